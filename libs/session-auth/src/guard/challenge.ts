import { type HttpDenial, SESSION_REJECTED } from '../contract/denials.js';
import { AUTH_TOKEN_HEADER } from '../contract/wire.js';
import { isHeaderName } from './http-request.js';

/** The part of a token source that names its authentication scheme. */
interface SchemeSource {
  readonly header?: string;
  readonly scheme?: string;
}

type HeaderList = readonly (readonly [name: string, value: string])[];

/** Sources without a header have no scheme, but each 401 must have a challenge. */
const DEFAULT_SCHEME = titleCase(AUTH_TOKEN_HEADER);

/** The `WWW-Authenticate` of 401: the scheme of the first token source that has one. */
export class Challenge {
  readonly #missing: HeaderList;
  readonly #refused: HeaderList;

  constructor(sources: readonly SchemeSource[]) {
    const scheme = sources.map(schemeOf).find((name) => name !== undefined) ?? DEFAULT_SCHEME;
    this.#missing = [['www-authenticate', `${scheme} realm="session"`]];
    this.#refused = [['www-authenticate', `${scheme} realm="session", error="invalid_token"`]];
  }

  /** Without `error` if the request has presented no token (RFC 6750, section 3.1). */
  headersOf({ statusCode, code, retryAfterSeconds }: HttpDenial): HeaderList {
    if (retryAfterSeconds !== undefined) return [['retry-after', String(retryAfterSeconds)]];
    if (statusCode !== 401) return [];
    return code === SESSION_REJECTED.code ? this.#refused : this.#missing;
  }
}

function schemeOf({ scheme, header }: SchemeSource): string | undefined {
  const name = scheme ?? (header === undefined ? undefined : titleCase(header));
  return isHeaderName(name) ? name : undefined;
}

/** Schemes have no case: one form for all spellings of a header. */
function titleCase(header: string): string {
  return header.toLowerCase().replace(/(?<![^-])[a-z]/g, (letter) => letter.toUpperCase());
}
