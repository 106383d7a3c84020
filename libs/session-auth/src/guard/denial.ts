import { HttpException } from '@nestjs/common';
import {
  ACCESS_DENIED,
  type CROSS_ORIGIN_DENIED,
  SERVICE_UNAVAILABLE,
  SESSION_REJECTED,
  type SESSION_REQUIRED,
  TOO_MANY_ATTEMPTS,
} from '../contract/denials.js';
import { DENIALS, type DenialMessage } from '../contract/diagnostics.js';
import type { SessionAuthError } from '../contract/errors.js';
import type { Unavailable, Verdict } from '../contract/outcome.js';
import { bodyOf, type HttpDenial } from '../exceptions/denial-body.js';
import { AccessDeniedError, SessionRejectedError, SessionServiceUnavailableError } from '../exceptions/session-exceptions.js';

/** A denial because the session service gave no usable answer. */
type OutageDenial = typeof SERVICE_UNAVAILABLE & Pick<Unavailable, 'reason' | 'retryAfterSeconds'>;

/** A denial by the guard, with one of its five codes. */
export type GuardDenial =
  typeof SESSION_REQUIRED | typeof SESSION_REJECTED | typeof ACCESS_DENIED | typeof CROSS_ORIGIN_DENIED | OutageDenial;

/** Returns the denial with 503: the session service gave no usable answer. */
export function unavailableDenial({ reason, retryAfterSeconds }: Pick<Unavailable, 'reason' | 'retryAfterSeconds'>): GuardDenial {
  const { statusCode, code, message } = SERVICE_UNAVAILABLE;
  return { statusCode, code, message, reason, retryAfterSeconds };
}

/** Codes of the errors that say how long to wait. */
const CODES_WITH_WAIT: readonly string[] = [SERVICE_UNAVAILABLE.code, TOO_MANY_ATTEMPTS.code];

/** Returns the denial for an error of `SessionAuthService` that a handler did not catch. It may come from another copy of this package. */
export function denialOf(error: SessionAuthError & { readonly retryAfterSeconds?: unknown }): HttpDenial {
  const { statusCode, code, message, retryAfterSeconds } = error;
  return CODES_WITH_WAIT.includes(code) && typeof retryAfterSeconds === 'number'
    ? { statusCode, code, message, retryAfterSeconds }
    : { statusCode, code, message };
}

/** Returns the error of a denial, without a stack trace. */
export function exceptionOf(denial: GuardDenial): HttpException & SessionAuthError {
  return withoutStack(() => sessionException(denial));
}

/** Returns the error of a denial, as `SessionAuthService` throws it. */
export function sessionException(denial: GuardDenial): HttpException & SessionAuthError {
  switch (denial.code) {
    case 'SESSION_SERVICE_UNAVAILABLE':
      return new SessionServiceUnavailableError(denial);
    case 'ACCESS_DENIED':
    case 'CROSS_ORIGIN_DENIED':
      return new AccessDeniedError(denial.code);
    default:
      return new SessionRejectedError(denial.code);
  }
}

/** Returns an exception of HTTP with the status and the body of any denial. */
export function httpExceptionOf(denial: HttpDenial): HttpException {
  return withoutStack(() => new HttpException(bodyOf(denial), denial.statusCode));
}

/** Returns the denial of a verdict. */
export function denialOfVerdict(verdict: Exclude<Verdict<unknown>, { kind: 'authenticated' }>): GuardDenial {
  if (verdict.kind === 'unavailable') return unavailableDenial(verdict);
  return verdict.kind === 'forbidden' ? ACCESS_DENIED : SESSION_REJECTED;
}

/** Publishes a denial to its diagnostics channel, if the channel has subscribers. */
export function reportDenial({ code }: Pick<DenialMessage, 'code'>, authority: string): void {
  if (DENIALS.hasSubscribers) DENIALS.publish({ code, authority });
}

/** A denial, as the client of a gateway or a microservice receives it. `status` is a convention of Nest; `code` is one of the stable codes. */
export interface DenialPayload {
  readonly status: 'error';
  readonly statusCode: number;
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

/** Returns the payload of a denial, for a client of a gateway or a microservice. */
export function payloadOf({ statusCode, code, message, retryAfterSeconds }: HttpDenial): DenialPayload {
  return { status: 'error', statusCode, code, message, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
}

/**
 * Builds an error without a stack trace. A denial is an expected response, and under a flood of refused tokens the stack trace would be nearly
 * all of its cost.
 */
export function withoutStack<Built extends Error>(build: () => Built): Built {
  const limit = Error.stackTraceLimit;
  Reflect.set(Error, 'stackTraceLimit', 0);
  try {
    return build();
  } finally {
    Reflect.set(Error, 'stackTraceLimit', limit);
  }
}
