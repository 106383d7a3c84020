import { isSessionAuthError } from '../contract/errors.js';

const AUTHORITY = Symbol.for('nestjs-session-auth.error.authority');

/** Notes on an error of this library the registration whose service threw it. Leaves other values, such as the reason of an abort, as they are. */
export function nameAuthority(error: unknown, authority: string): void {
  if (isSessionAuthError(error)) Object.defineProperty(error, AUTHORITY, { value: authority, configurable: true });
}

/** Returns the registration whose service threw an error; `undefined` if that is the one without a name, or no service. */
export function authorityOf(error: object): string | undefined {
  return (error as { readonly [AUTHORITY]?: string })[AUTHORITY];
}
