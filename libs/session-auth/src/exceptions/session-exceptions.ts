import {
  BadRequestException,
  ForbiddenException,
  HttpException,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@nestjs/common';
import {
  ACCESS_CHECK_FAILED,
  ACCESS_DENIED,
  bodyOf,
  CREDENTIALS_REJECTED,
  CROSS_ORIGIN_DENIED,
  type HttpDenial,
  SERVICE_UNAVAILABLE,
  SESSION_REJECTED,
  SESSION_REQUIRED,
  TOO_MANY_ATTEMPTS,
} from '../contract/denials.js';
import { markAsSessionAuthError, type SessionAuthError } from '../contract/errors.js';
import type { UnavailableReason } from '../contract/outcome.js';

/** Arguments of an exception of Nest: its body, and its code. */
const argumentsOf = (denial: HttpDenial) => [bodyOf(denial), { errorCode: denial.code }] as const;

/**
 * The service could not read the request (its 400 to a sign-in or sign-out), or the arguments were invalid
 * and no request was sent.
 */
export class InvalidRequestError extends BadRequestException implements SessionAuthError {
  /** Always 'InvalidRequestError'. */
  override readonly name = 'InvalidRequestError';
  readonly code = 'INVALID_REQUEST';
  readonly statusCode = 400;

  constructor(message = 'The session service could not read the request') {
    super(...argumentsOf({ statusCode: 400, code: 'INVALID_REQUEST', message }));
  }
}

/**
 * The username or the password is wrong (401 and 404 to a sign-in; one error for both, so as not to reveal
 * which usernames exist).
 */
export class CredentialsRejectedError extends UnauthorizedException implements SessionAuthError {
  /** Always 'CredentialsRejectedError'. */
  override readonly name = 'CredentialsRejectedError';
  readonly code = 'CREDENTIALS_REJECTED';
  readonly statusCode = 401;

  constructor() {
    super(...argumentsOf(CREDENTIALS_REJECTED));
  }
}

/** The session service limits sign-ins (429). Try again after `retryAfterSeconds`. */
export class TooManyAttemptsError extends HttpException implements SessionAuthError {
  /** Always 'TooManyAttemptsError'. */
  override readonly name = 'TooManyAttemptsError';
  readonly code = 'TOO_MANY_ATTEMPTS';
  readonly statusCode = 429;
  /** Seconds that the service asks to wait (`Retry-After`), from 1 to 120. */
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    const [body, options] = argumentsOf({ ...TOO_MANY_ATTEMPTS, retryAfterSeconds });
    super(body, TOO_MANY_ATTEMPTS.statusCode, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

type Rejection = typeof SESSION_REQUIRED | typeof SESSION_REJECTED;

/**
 * No token was presented (`SESSION_REQUIRED`, from the guard only), or the token is malformed or unknown, or
 * its session has ended (`SESSION_REJECTED`). Sign in again.
 */
export class SessionRejectedError extends UnauthorizedException implements SessionAuthError {
  /** Always 'SessionRejectedError'. */
  override readonly name = 'SessionRejectedError';
  readonly code: Rejection['code'];
  readonly statusCode = 401;

  constructor(code: Rejection['code'] = 'SESSION_REJECTED') {
    super(...argumentsOf(code === 'SESSION_REQUIRED' ? SESSION_REQUIRED : SESSION_REJECTED));
    this.code = code;
  }
}

type AccessDenial = typeof ACCESS_DENIED | typeof CROSS_ORIGIN_DENIED;

/**
 * A rule of the handler is not met, or the service refuses this application or user (`ACCESS_DENIED`), or a
 * page of another origin made the browser send its cookie (`CROSS_ORIGIN_DENIED`, from a guard only). Signing
 * in again does not help.
 */
export class AccessDeniedError extends ForbiddenException implements SessionAuthError {
  /** Always 'AccessDeniedError'. */
  override readonly name = 'AccessDeniedError';
  readonly code: AccessDenial['code'];
  readonly statusCode = 403;

  constructor(code: AccessDenial['code'] = 'ACCESS_DENIED') {
    super(...argumentsOf(code === 'CROSS_ORIGIN_DENIED' ? CROSS_ORIGIN_DENIED : ACCESS_DENIED));
    this.code = code;
  }
}

/**
 * A rule of the handler could not be evaluated: it threw, rejected, or took longer than `timeoutMs`. From a
 * guard only. Try again later: the log names the rule.
 */
export class AccessCheckFailedError extends ServiceUnavailableException implements SessionAuthError {
  /** Always 'AccessCheckFailedError'. */
  override readonly name = 'AccessCheckFailedError';
  readonly code = 'ACCESS_CHECK_FAILED';
  readonly statusCode = 503;
  /** Seconds to wait before the next attempt. */
  readonly retryAfterSeconds: number = ACCESS_CHECK_FAILED.retryAfterSeconds;

  constructor() {
    super(...argumentsOf(ACCESS_CHECK_FAILED));
  }
}

/** The service gave no usable answer. Try again later. Never caused by the user's token. */
export class SessionServiceUnavailableError extends ServiceUnavailableException implements SessionAuthError {
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
    message: string = SERVICE_UNAVAILABLE.message,
  ) {
    super(...argumentsOf({ ...SERVICE_UNAVAILABLE, message, retryAfterSeconds }));
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

for (const exception of [
  InvalidRequestError,
  CredentialsRejectedError,
  TooManyAttemptsError,
  SessionRejectedError,
  AccessDeniedError,
  AccessCheckFailedError,
  SessionServiceUnavailableError,
])
  markAsSessionAuthError(exception);
