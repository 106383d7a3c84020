import type { ExecutionContext } from '@nestjs/common';
import { isHeaderValue } from '../../contract/wire.js';
import type { SessionIdentity } from '../../contract/session-identity.js';
import { AUTH_IV_HEADER } from '../../contract/wire.js';
import type { HttpRequest } from '../http/http-request.js';
import type { TokenSource } from './token-source.js';

/** How the guard reads what a request presents. */
export interface PresentationSettings {
  readonly sources: readonly TokenSource[];
  readonly forwardAuthIv: boolean;
  /** Bytes a token or an IV may have. */
  readonly maxTokenLength: number;
}

/** A request without a token. */
export const NO_TOKEN = 'no token';
/** A token or an IV that can't be one: nobody is asked about it. */
export const MALFORMED_TOKEN = 'malformed token';

const AUTH_IV = AUTH_IV_HEADER.toLowerCase();

/** Reads the session that a request presents. The first source that finds anything decides. */
export class PresentedSessions {
  readonly #settings: PresentationSettings;
  /** Request headers that the answer depends on, for `Vary`. */
  readonly vary: string;

  constructor(settings: PresentationSettings) {
    this.#settings = settings;
    this.vary = [...new Set(settings.sources.flatMap(({ header }) => header ?? []))].join(', ');
  }

  read(context: ExecutionContext, request: HttpRequest): SessionIdentity | typeof NO_TOKEN | typeof MALFORMED_TOKEN {
    const token = this.#findToken(context, request);
    if (token === undefined || token === '') return NO_TOKEN;
    if (!isHeaderValue(token, this.#settings.maxTokenLength)) return MALFORMED_TOKEN;
    const authIv = this.#settings.forwardAuthIv ? request.headers[AUTH_IV] : undefined;
    if (authIv !== undefined && !isHeaderValue(authIv, this.#settings.maxTokenLength)) return MALFORMED_TOKEN;
    return { token, authIv };
  }

  /** A source of the application that throws, or that answers with a promise, has found nothing that could be trusted. */
  #findToken(context: ExecutionContext, request: HttpRequest): unknown {
    try {
      for (const find of this.#settings.sources) {
        const found: unknown = find(context, request);
        if (found instanceof Promise) found.catch(() => undefined);
        if (found !== undefined && found !== null) return found;
      }
      return undefined;
    } catch {
      return MALFORMED_TOKEN;
    }
  }
}
