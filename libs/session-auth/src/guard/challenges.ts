import { type HttpDenial, SESSION_REJECTED } from '../contract/denials.js';
import { AUTH_TOKEN_HEADER } from '../contract/wire.js';
import { isHeaderName } from './http-request.js';

/** The part of a token source that names its authentication scheme. */
interface SchemeSource {
  readonly header?: string;
  readonly scheme?: string;
}

type HeaderList = readonly (readonly [name: string, value: string])[];

/** Key of the headers that refuse the token of a request. Set only if they depend on its source. */
const REFUSED = Symbol('headers of a refused token');

interface PresentingRequest {
  [REFUSED]?: HeaderList | undefined;
}

/** Sources without a header have no scheme, but each 401 must have a challenge. */
const DEFAULT_SCHEME = titleCase(AUTH_TOKEN_HEADER);
const NO_HEADERS: HeaderList = [];

/**
 * The `WWW-Authenticate` of 401: one challenge for each scheme of the token sources, in the order of the
 * sources.
 */
export class Challenges {
  readonly #missing: HeaderList;
  /** By the index of the source that found the token. */
  readonly #refused: readonly HeaderList[];
  /** For a token that no source has found: a handler passed it to the service. */
  readonly #refusedOfUnknown: HeaderList;
  /** Whether the headers of a refused token depend on the source that found it. */
  readonly dependOnSource: boolean;

  constructor(sources: readonly SchemeSource[]) {
    const schemes = sources.map(schemeOf);
    const unique = [...new Set(schemes.filter((scheme) => scheme !== undefined))];
    const listed = unique.length === 0 ? [DEFAULT_SCHEME] : unique;
    this.dependOnSource = new Set(schemes).size > 1;
    this.#missing = challengesOf(listed);
    this.#refused = schemes.map((scheme) => challengesOf(listed, scheme));
    this.#refusedOfUnknown = challengesOf(listed, this.dependOnSource ? undefined : listed[0]);
  }

  /** Called only if the headers {@link dependOnSource}. */
  presentedBy(source: number, request: object): void {
    (request as PresentingRequest)[REFUSED] = this.#refused[source];
  }

  /**
   * `error="invalid_token"` is in the challenge of the scheme by which the request presented its token, and in
   * no other (RFC 6750, section 3.1).
   */
  headersOf({ statusCode, code, retryAfterSeconds }: HttpDenial, request?: object): HeaderList {
    if (retryAfterSeconds !== undefined) return [['retry-after', String(retryAfterSeconds)]];
    if (statusCode !== 401) return NO_HEADERS;
    if (code !== SESSION_REJECTED.code) return this.#missing;
    const refused = (request as PresentingRequest | undefined)?.[REFUSED];
    // Sources of another authority may have found it.
    return refused && this.#refused.includes(refused) ? refused : this.#refusedOfUnknown;
  }
}

function challengesOf(schemes: readonly string[], refused?: string): HeaderList {
  const challenges = schemes.map(
    (scheme) => `${scheme} realm="session"${scheme === refused ? ', error="invalid_token"' : ''}`,
  );
  return [['www-authenticate', challenges.join(', ')]];
}

function schemeOf({ scheme, header }: SchemeSource): string | undefined {
  const name = scheme ?? (header === undefined ? undefined : titleCase(header));
  return isHeaderName(name) ? name : undefined;
}

/** Schemes have no case: one form for all spellings of a header. */
function titleCase(header: string): string {
  return header.toLowerCase().replace(/(?<![^-])[a-z]/g, (letter) => letter.toUpperCase());
}
