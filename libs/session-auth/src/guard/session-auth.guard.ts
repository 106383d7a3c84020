import 'reflect-metadata';
import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { SessionIdentity } from '../contract/session-identity.js';
import type { UserRecord } from '../contract/user-record.js';
import type { Verdict } from '../contract/verdict.js';
import { meetsAll, type AccessRule } from './access-rule.js';
import { GUARD_PARTS, type GuardParts } from './guard-parts.js';
import { findChecked, keepChecked, setUser } from './guarded-request.js';
import { exceptionOf, FORBIDDEN, TOKEN_REFUSED, TOKEN_REQUIRED, unavailableDenial, type HttpDenial } from './http-denial.js';
import { addVary, setHeaders } from './http-reply.js';
import { MALFORMED_TOKEN, NO_TOKEN } from './presented-session.js';

type ClosedRule = Exclude<AccessRule, { kind: 'public' }>;

const NO_STORE = [['Cache-Control', 'no-store']] as const;

/**
 * Lets in whoever presents a valid session and meets the handler's rule; attaches the user's record to `request.user`.
 * Everyone else gets 401, 403 or 503, never a handler.
 */
@Injectable()
export class SessionAuthGuard implements CanActivate {
  constructor(@Inject(GUARD_PARTS) private readonly parts: GuardParts) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    const rule = this.parts.rules.of(context);
    if (rule.kind === 'public') return true;
    if (context.getType() !== 'http') throw exceptionOf(FORBIDDEN);

    this.keepFromSharedCaches(context);
    const session = this.parts.presented.read(context);
    if (session === NO_TOKEN) return this.admitAnonymous(context, rule, TOKEN_REQUIRED);
    if (session === MALFORMED_TOKEN) return this.admitAnonymous(context, rule, TOKEN_REFUSED);
    const verdict = this.check(context, session);
    return verdict instanceof Promise
      ? verdict.then((settled) => this.admit(context, rule, session, settled))
      : this.admit(context, rule, session, verdict);
  }

  /** One check a request, however many guards ask. */
  private check(context: ExecutionContext, session: SessionIdentity): Verdict<UserRecord> | Promise<Verdict<UserRecord>> {
    const request: unknown = context.switchToHttp().getRequest();
    const checked = findChecked(request, this.parts.verifier, session);
    if (checked) return checked.verdict;
    const verdict = this.parts.verifier.verify(session);
    keepChecked(request, { verifier: this.parts.verifier, session, verdict });
    return verdict;
  }

  private admit(context: ExecutionContext, rule: ClosedRule, session: SessionIdentity, verdict: Verdict<UserRecord>): true | Promise<true> {
    if (verdict.kind === 'rejected') return this.admitAnonymous(context, rule, TOKEN_REFUSED);
    if (verdict.kind === 'denied') return this.deny(context, FORBIDDEN);
    if (verdict.kind === 'unavailable') return this.deny(context, unavailableDenial(verdict));

    const { user } = verdict;
    const meets = rule.kind === 'optional' || meetsAll(rule.requirements, user, context);
    const enter = (met: boolean): true => (met ? this.enter(context, user, session.token) : this.deny(context, FORBIDDEN));
    return meets instanceof Promise ? meets.then(enter) : enter(meets);
  }

  private admitAnonymous(context: ExecutionContext, rule: ClosedRule, denial: HttpDenial): true {
    return rule.kind === 'optional' ? this.enter(context, undefined, undefined) : this.deny(context, denial);
  }

  private enter(context: ExecutionContext, user: UserRecord | undefined, token: string | undefined): true {
    setUser(context.switchToHttp().getRequest(), user, token);
    return true;
  }

  private deny(context: ExecutionContext, denial: HttpDenial): never {
    setHeaders(context.switchToHttp().getResponse(), denial.headers);
    throw exceptionOf(denial);
  }

  /** A shared cache would keep replies to a header that it does not know; the handler may still set its own `Cache-Control`. */
  private keepFromSharedCaches(context: ExecutionContext): void {
    const reply: unknown = context.switchToHttp().getResponse();
    setHeaders(reply, NO_STORE);
    addVary(reply, this.parts.presented.headers);
  }
}
