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

export const NO_TOKEN = 'no token';
/** The token or the IV is malformed: the service is not called. */
export const MALFORMED_TOKEN = 'malformed token';
/** A page of another origin made the browser send the token: the service is not called. */
export const CROSS_ORIGIN = 'cross-origin';

export const DENIAL_WITHOUT_SESSION = {
  [NO_TOKEN]: SESSION_REQUIRED,
  [MALFORMED_TOKEN]: SESSION_REJECTED,
  [CROSS_ORIGIN]: CROSS_ORIGIN_DENIED,
} as const;

const AUTH_IV = AUTH_IV_HEADER.toLowerCase();

/** Reads the session that a request presents. The first source that returns a value decides. */
export class SessionReader {
  readonly #settings: SessionReaderSettings;
  /** Request headers that the response depends on, for `Vary`. */
  readonly vary: string;
  /** Headers of the denials of these sessions. */
  readonly challenges: Challenges;

  constructor(settings: SessionReaderSettings) {
    this.#settings = settings;
    this.vary = [...new Set(settings.sources.flatMap(({ header }) => header ?? []))].join(', ');
    this.challenges = new Challenges(settings.sources);
  }

  /**
   * Returns the session of a request, or why it presents none. If a source of the application throws or
   * returns a promise, the token counts as malformed.
   */
  read(
    context: ExecutionContext,
    request: HttpRequest,
  ): SessionIdentity | keyof typeof DENIAL_WITHOUT_SESSION {
    const { sources, forwardAuthIv, maxTokenLength } = this.#settings;
    let token: unknown;
    let index = 0;
    for (const find of sources) {
      try {
        token = find(context, request) ?? undefined;
      } catch {
        token = MALFORMED_TOKEN;
      }
      if (token !== undefined) break;
      index += 1;
    }
    if (token === undefined || token === '') return NO_TOKEN;
    if (this.challenges.dependOnSource) this.challenges.presentedBy(index, request);
    if (!isHeaderValue(token, maxTokenLength)) {
      if (token instanceof Promise) token.catch(() => undefined);
      return isCrossOriginToken(token) ? CROSS_ORIGIN : MALFORMED_TOKEN;
    }
    const authIv = forwardAuthIv
      ? (request.headers[AUTH_IV] ?? request.handshakeFields?.[AUTH_IV])
      : undefined;
    if (authIv !== undefined && !isHeaderValue(authIv, maxTokenLength)) return MALFORMED_TOKEN;
    return { token, authIv };
  }
}
