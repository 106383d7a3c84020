import { isSessionAuthError } from '../contract/errors.js';

const AUTHORITY = Symbol.for('nestjs-session-auth.error.authority');

/**
 * Records in an error of this library which registration's service threw it. Ignores other values, such as
 * the reason of an abort.
 */
export function setErrorAuthority(error: unknown, authority: string): void {
  if (isSessionAuthError(error))
    Object.defineProperty(error, AUTHORITY, { value: authority, configurable: true });
}

/**
 * Returns the registration whose service threw an error; `undefined` if that is the one without a name, or no
 * service.
 */
export function authorityOfError(error: object): string | undefined {
  return (error as { readonly [AUTHORITY]?: string })[AUTHORITY];
}
