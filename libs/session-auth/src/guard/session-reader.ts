import type { ExecutionContext } from '@nestjs/common';
import { AUTH_IV_HEADER, isHeaderValue } from '../contract/wire.js';
import { CROSS_ORIGIN_DENIED, SESSION_REJECTED, SESSION_REQUIRED } from '../contract/denials.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import type { HttpRequest } from './http-request.js';
import { isCrossOriginToken } from './cross-origin.js';
import type { TokenSource } from './token-source.js';
import { Challenges } from './challenges.js';

export interface SessionReaderSettings {
  readonly sources: readonly TokenSource[];
  readonly forwardAuthIv: boolean;
  /** Maximum length of a token or an IV, in bytes. */
  readonly maxTokenLength: number;
}

/** Denials of calls that present no session, for which the service is not called. */
type DenialWithoutSession =
  | typeof SESSION_REQUIRED
  /** The token or the IV is malformed. */
  | typeof SESSION_REJECTED
  /** A page of another origin made the browser send the token. */
  | typeof CROSS_ORIGIN_DENIED;

const AUTH_IV = AUTH_IV_HEADER.toLowerCase();

/** Reads the session that a request presents. The first source that returns a value decides. */
export class SessionReader {
  readonly #settings: SessionReaderSettings;
  /** Request headers that the response depends on, for `Vary`. */
  readonly vary: string;
  readonly challenges: Challenges;

  constructor(settings: SessionReaderSettings) {
    this.#settings = settings;
    this.vary = [...new Set(settings.sources.flatMap(({ header }) => header ?? []))].join(', ');
    this.challenges = new Challenges(settings.sources);
  }

  /**
   * Returns the session of a request, or the denial of one that presents none. If a source of the application throws or
   * returns a promise, the token counts as malformed.
   */
  read(context: ExecutionContext, request: HttpRequest): SessionIdentity | DenialWithoutSession {
    const { sources, forwardAuthIv, maxTokenLength } = this.#settings;
    let token: unknown;
    let index = 0;
    for (const find of sources) {
      try {
        token = find(context, request) ?? undefined;
      } catch {
        token = NaN;
      }
      if (token !== undefined) break;
      index += 1;
    }
    if (token === undefined || token === '') return SESSION_REQUIRED;
    // Asked here too: a call of the method would cost each request.
    if (this.challenges.dependOnSource) this.challenges.presentedBy(index, request);
    if (!isHeaderValue(token, maxTokenLength)) {
      if (token instanceof Promise) token.catch(() => undefined);
      return isCrossOriginToken(token) ? CROSS_ORIGIN_DENIED : SESSION_REJECTED;
    }
    const authIv = forwardAuthIv
      ? (request.headers[AUTH_IV] ?? request.handshakeFields?.[AUTH_IV])
      : undefined;
    if (authIv !== undefined && !isHeaderValue(authIv, maxTokenLength)) return SESSION_REJECTED;
    return { token, authIv };
  }
}
