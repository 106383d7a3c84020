import { Injectable } from '@nestjs/common';
import {
  Authorize,
  FreshSession,
  fromCookie,
  SessionAuthEvents,
  SessionAuthGuard,
  SessionAuthModule,
  type AuthorizationPolicy,
  type SessionAuthExtras,
  type SessionAuthOptions,
  type UserRecord,
} from 'nestjs-session-auth';
import type { Switch, VariantParts, VariantSetup } from './variant.js';

@Injectable()
class IsUser implements AuthorizationPolicy {
  allows(user: UserRecord): boolean {
    return user.username !== undefined;
  }
}

@Injectable()
class Subscriber {
  constructor(events: SessionAuthEvents) {
    events.decisions$.subscribe(() => undefined);
  }
}

const OPTIONS: Readonly<Partial<Record<Switch, Partial<SessionAuthOptions & SessionAuthExtras>>>> = {
  cookie: { token: fromCookie('session') },
};

/** The library with its defaults: every limit and every time-out on. */
export function variant({ serviceUrl, cache, timeoutMs, switchedOn, isFresh }: VariantSetup): VariantParts {
  const options = switchedOn && OPTIONS[switchedOn];
  const more = { ...(cache && { cache }), ...(timeoutMs !== undefined && { timeoutMs }), ...options };
  const session = SessionAuthModule.forRoot({ baseUrl: serviceUrl, apiKey: 'application-key', ...more });
  return {
    imports: [session],
    guard: SessionAuthGuard,
    ...(switchedOn === 'decisions' && { providers: [Subscriber] }),
    ...(switchedOn === 'policy' && { providers: [IsUser], rule: Authorize(IsUser) }),
    ...(isFresh && { rule: FreshSession() }),
  };
}
