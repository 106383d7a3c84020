const BRAND = Symbol.for('nestjs-session-auth.error');

/**
 * Matches every error of this library, created by any copy of the package: `instanceof` and `@Catch()`
 * compare a brand. Except for {@link InvalidConfigurationError}, the errors extend Nest's exceptions, and not
 * this class. They contain no key, token, IV or password, and have no `cause`.
 */
export abstract class SessionAuthError extends Error {
  /** Stable code of the error. */
  abstract readonly code: string;
  /** HTTP status of the response to this error. */
  abstract readonly statusCode: number;

  static {
    markAsSessionAuthError(this);
  }

  /**
   * Returns whether a value is an error of this class. For the base class, errors of any copy of this package
   * count.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this === SessionAuthError) return isSessionAuthError(value);
    return Function.prototype[Symbol.hasInstance].call(this, value);
  }
}

/** Makes instances of a class errors of this library. */
export function markAsSessionAuthError({ prototype }: { readonly prototype: object }): void {
  Object.defineProperty(prototype, BRAND, { value: true });
}

/** Returns whether a value is an error of this library, created by any copy of the package. */
export function isSessionAuthError(value: unknown): value is SessionAuthError {
  return typeof value === 'object' && value !== null && BRAND in value;
}

/** An option is missing or invalid. The message names the option and the remedy. */
export class InvalidConfigurationError extends SessionAuthError {
  /** Always 'InvalidConfigurationError'. */
  override readonly name = 'InvalidConfigurationError';
  readonly code = 'INVALID_CONFIGURATION';
  readonly statusCode = 500;
}

/**
 * Rejects a class of the library that a module lists among its own providers: Nest then creates it without
 * its parts.
 * @throws InvalidConfigurationError always, naming the class
 */
export function rejectOwnProvider(name: string): never {
  throw new InvalidConfigurationError(
    `${name} is among the providers of a module. Remove it there: SessionAuthModule provides it. In a unit test, write { provide: ${name}, useValue: yourMock }.`,
  );
}

/** Stops the bootstrap. The message never contains a value, which may be a secret. */
export function invalidOption(option: string, problem: string, remedy: string): never {
  throw new InvalidConfigurationError(`SessionAuthModule: ${option} ${problem}. ${remedy}.`);
}
