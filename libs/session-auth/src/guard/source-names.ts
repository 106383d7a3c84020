/** Shared by all copies of this package. */
const INVALID = Symbol.for('nestjs-session-auth:invalid-source');

/** A function that creates a source from a name. */
type NamedSource = 'fromHeader' | 'fromCookie' | 'fromPayload';

/** The error in the arguments of a source: its name, unless a problem is given. */
interface InvalidSource {
  readonly creator: NamedSource;
  readonly problem?: string;
  readonly remedy?: string;
}

/**
 * Marks a source with invalid arguments, which would find no token in any call. It is rejected when the
 * application starts, like every option.
 */
export function markInvalid<Source extends object>(source: Source, invalid: InvalidSource): Source {
  return Object.assign(source, { [INVALID]: invalid });
}

/** Returns what is wrong with a source; `undefined` for a valid source. */
export function invalidSourceOf(source: object): InvalidSource | undefined {
  return (source as { readonly [INVALID]?: InvalidSource })[INVALID];
}

/** RFC 9110, section 5.1. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Wider than RFC 6265, section 4.1.1, because browsers accept it: visible ASCII without `=` and `;`. */
const COOKIE_NAME = /^[\x21-\x3a\x3c\x3e-\x7e]+$/;

/** Returns whether a value is the name of a header. */
export function isHeaderName(name: unknown): name is string {
  return typeof name === 'string' && HEADER_NAME.test(name);
}

/** Returns whether a value is the name of a cookie. */
export function isCookieName(name: unknown): name is string {
  return typeof name === 'string' && COOKIE_NAME.test(name);
}
