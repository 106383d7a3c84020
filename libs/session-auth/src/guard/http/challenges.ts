import { SESSION_REJECTED } from '../../contract/denials.js';
import type { HttpDenial } from '../../exceptions/denial-body.js';

/** The part of a token source that names its authentication scheme. */
interface SchemeSource {
  readonly header?: string;
  readonly scheme?: string;
}

/** The form of a scheme (RFC 9110, section 5.6.2). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
/** Sources without a header have no scheme, but each 401 must have a challenge. */
const DEFAULT_SCHEME = 'X-Auth-Token';

/** The `WWW-Authenticate` of 401: one challenge for each scheme of the token sources, in the order of the sources. */
export class Challenges {
  readonly #missing: string;
  readonly #refused: string;

  constructor(sources: readonly SchemeSource[]) {
    const schemes = uniqueSchemes(sources.map(({ scheme, header }) => scheme ?? titleCase(header)));
    const challenges = schemes.map((scheme) => `${scheme} realm="session"`);
    this.#missing = challenges.join(', ');
    this.#refused = challenges.map((challenge) => `${challenge}, error="invalid_token"`).join(', ');
  }

  /** Returns the headers of a denial. `error="invalid_token"` means that a token was presented (RFC 6750, section 3.1). */
  headersOf({ statusCode, code, retryAfterSeconds }: HttpDenial): readonly (readonly [name: string, value: string])[] {
    if (retryAfterSeconds !== undefined) return [['retry-after', String(retryAfterSeconds)]];
    if (statusCode !== 401) return [];
    return [['www-authenticate', code === SESSION_REJECTED.code ? this.#refused : this.#missing]];
  }
}

function uniqueSchemes(names: readonly (string | undefined)[]): readonly string[] {
  const schemes = names.filter((name) => name !== undefined && TOKEN.test(name));
  return schemes.length === 0 ? [DEFAULT_SCHEME] : [...new Set(schemes as string[])];
}

/** Schemes have no case: one form for all spellings of a header. */
function titleCase(header: string | undefined): string | undefined {
  return header?.toLowerCase().replace(/(?<![^-])[a-z]/g, (letter) => letter.toUpperCase());
}
