import { type UnavailableReason, type Verdict } from './outcome.js';

const BRAND = Symbol.for('nestjs-session-auth.error');

/** Base class of the errors of this library. Contains no key, token, IV or password, and has no `cause`. */
export abstract class SessionAuthError extends Error {
  /** Stable code of the error. */
  abstract readonly code: string;
  /** HTTP status of the response to this error. */
  abstract readonly statusCode: number;

  static {
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }

  /** Returns whether a value is an error of this class. For the base class, errors of any copy of this package count. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this === SessionAuthError) return isSessionAuthError(value);
    return Function.prototype[Symbol.hasInstance].call(this, value);
  }
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

/** The service could not read the request (its 400 to a sign-in or sign-out), or the arguments were invalid and no request was sent. */
export class InvalidRequestError extends SessionAuthError {
  /** Always 'InvalidRequestError'. */
  override readonly name = 'InvalidRequestError';
  readonly code = 'INVALID_REQUEST';
  readonly statusCode = 400;

  constructor(message = 'The session service could not read the request') {
    super(message);
  }
}

/** The username or the password is wrong (401 and 404 to a sign-in; one error for both, so as not to reveal which usernames exist). */
export class CredentialsRejectedError extends SessionAuthError {
  /** Always 'CredentialsRejectedError'. */
  override readonly name = 'CredentialsRejectedError';
  readonly code = 'CREDENTIALS_REJECTED';
  readonly statusCode = 401;

  constructor() {
    super('The username or the password is wrong');
  }
}

/** The token is missing, malformed or unknown, or its session has ended. Sign in again. */
export class SessionRejectedError extends SessionAuthError {
  /** Always 'SessionRejectedError'. */
  override readonly name = 'SessionRejectedError';
  readonly code = 'SESSION_REJECTED';
  readonly statusCode = 401;

  constructor() {
    super('The session is not valid');
  }
}

/** The service refuses this application or user. Signing in again does not help. */
export class AccessDeniedError extends SessionAuthError {
  /** Always 'AccessDeniedError'. */
  override readonly name = 'AccessDeniedError';
  readonly code = 'ACCESS_DENIED';
  readonly statusCode = 403;

  constructor() {
    super('Access is denied');
  }
}

/** The service gave no usable answer. Try again later. Never caused by the user's token. */
export class SessionServiceUnavailableError extends SessionAuthError {
  /** Always 'SessionServiceUnavailableError'. */
  override readonly name = 'SessionServiceUnavailableError';
  readonly code = 'SESSION_SERVICE_UNAVAILABLE';
  readonly statusCode = 503;
  /** Stable name of the cause. */
  readonly reason: UnavailableReason;
  /** Seconds to wait before the next attempt, 1 to 120. */
  readonly retryAfterSeconds: number;

  constructor(
    { reason, retryAfterSeconds }: Pick<SessionServiceUnavailableError, 'reason' | 'retryAfterSeconds'>,
    message = 'The session service is unavailable; try again later',
  ) {
    super(message);
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Returns the error that `SessionAuthService` throws for a denial. */
export function errorOf(verdict: Exclude<Verdict<unknown>, { kind: 'authenticated' }>): SessionAuthError {
  if (verdict.kind === 'unauthenticated') return new SessionRejectedError();
  if (verdict.kind === 'forbidden') return new AccessDeniedError();
  return new SessionServiceUnavailableError(verdict);
}
