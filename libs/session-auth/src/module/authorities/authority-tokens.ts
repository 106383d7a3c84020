import type { InjectionToken } from '@nestjs/common';
import { SessionClient } from '../../client/session-client.js';
import { SessionHttpService } from '../../client/http/session-http.service.js';
import { DEFAULT_AUTHORITY } from '../../contract/authority-name.js';
import { SessionAuthService } from '../service/session-auth.service.js';
import { SessionAuthEvents } from '../events/session-auth-events.js';
import { SessionSockets } from '../sockets/session-sockets.js';

/** A class that each registration provides to the application. */
export type ProvidedClass = typeof SessionAuthService | typeof SessionAuthEvents | typeof SessionSockets | typeof SessionHttpService;

/** Fixed, because a bundler may rename the classes. */
const LABELS = new Map<unknown, string>([
  [SessionAuthService, 'SessionAuthService'],
  [SessionAuthEvents, 'SessionAuthEvents'],
  [SessionSockets, 'SessionSockets'],
  [SessionHttpService, 'SessionHttpService'],
  [SessionClient, 'SessionClient'],
]);

/** Returns the injection token of a class of one registration: the class itself for the registration without a name. */
export function authorityToken(name: string, provided: ProvidedClass | typeof SessionClient): InjectionToken {
  return name === DEFAULT_AUTHORITY ? provided : `${LABELS.get(provided) ?? provided.name}@${name}`;
}

/** Injection tokens of one registration. */
export interface AuthorityTokens {
  readonly client: InjectionToken;
  readonly service: InjectionToken;
  readonly events: InjectionToken;
  readonly sockets: InjectionToken;
  readonly http: InjectionToken;
}

/** Returns the injection tokens of a registration. */
export function tokensOf(name: string): AuthorityTokens {
  return {
    client: authorityToken(name, SessionClient),
    service: authorityToken(name, SessionAuthService),
    events: authorityToken(name, SessionAuthEvents),
    sockets: authorityToken(name, SessionSockets),
    http: authorityToken(name, SessionHttpService),
  };
}
