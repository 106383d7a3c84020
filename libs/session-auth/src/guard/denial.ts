import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import {
  type ACCESS_CHECK_FAILED,
  ACCESS_DENIED,
  type CROSS_ORIGIN_DENIED,
  type HttpDenial,
  SERVICE_UNAVAILABLE,
  SESSION_REJECTED,
  type SESSION_REQUIRED,
} from '../contract/denials.js';
import { DENIALS, type DenialMessage } from '../contract/diagnostics.js';
import { isSessionAuthError, type SessionAuthError } from '../contract/errors.js';
import type { Unavailable, Verdict } from '../contract/outcome.js';
import {
  AccessCheckFailedError,
  AccessDeniedError,
  SessionRejectedError,
  SessionServiceUnavailableError,
} from '../exceptions/session-exceptions.js';

type OutageDenial = typeof SERVICE_UNAVAILABLE & Pick<Unavailable, 'reason' | 'retryAfterSeconds'>;

export type GuardDenial =
  | typeof SESSION_REQUIRED
  | typeof SESSION_REJECTED
  | typeof ACCESS_DENIED
  | typeof CROSS_ORIGIN_DENIED
  | typeof ACCESS_CHECK_FAILED
  | OutageDenial;

/** The answer of a rule that threw an `HttpException`, in terms of HTTP. */
export interface RuleAnswer extends HttpDenial {
  readonly exception: HttpException;
}

/** @param error an error that a handler did not catch, maybe of another copy of this package */
export function denialOf(error: SessionAuthError & { readonly retryAfterSeconds?: unknown }): HttpDenial {
  const { statusCode, code, message, retryAfterSeconds } = error;
  return { statusCode, code, message, ...(typeof retryAfterSeconds === 'number' && { retryAfterSeconds }) };
}

/**
 * Returns the answer of a rule that threw an `HttpException`; `undefined` for any other error. An exception
 * of an outdated or a second copy of `@nestjs/common` is recognised only if it is an error of this library.
 */
export function ruleAnswerOf(error: unknown): RuleAnswer | undefined {
  try {
    const isOwn = isSessionAuthError(error);
    if (isOwn ? !('getResponse' in error) : !(error instanceof HttpException)) return undefined;
    const exception = error as HttpException;
    const denial = isOwn ? denialOf(error) : plainDenialOf(exception);
    const { statusCode: status } = denial;
    const isStatus = Number.isInteger(status) && status >= 200 && status < 600;
    return isStatus ? { ...denial, exception } : undefined;
  } catch {
    // Of an exception class of the application, whose members may be overridden.
    return undefined;
  }
}

/** The code is that of the exception's body, or else the name of the status: `NOT_FOUND`. */
function plainDenialOf(exception: HttpException): HttpDenial {
  const [statusCode, body] = [exception.getStatus(), exception.getResponse()];
  const code = typeof body === 'object' ? (body as { readonly code?: unknown }).code : undefined;
  const name = STATUS_CODES[statusCode] ?? 'Denied';
  return {
    statusCode,
    message: exception.message,
    code: typeof code === 'string' ? code : name.toUpperCase().replaceAll(/[^A-Z]+/g, '_'),
  };
}

export function exceptionOf(denial: GuardDenial | RuleAnswer): HttpException {
  return 'exception' in denial ? denial.exception : withoutStack(() => sessionException(denial));
}

export function sessionException(denial: GuardDenial): HttpException & SessionAuthError {
  switch (denial.code) {
    case 'ACCESS_CHECK_FAILED':
      return new AccessCheckFailedError();
    case 'SESSION_SERVICE_UNAVAILABLE':
      return new SessionServiceUnavailableError(denial);
    case 'ACCESS_DENIED':
    case 'CROSS_ORIGIN_DENIED':
      return new AccessDeniedError(denial.code);
    default:
      return new SessionRejectedError(denial.code);
  }
}

export function denialOfVerdict(verdict: Exclude<Verdict<unknown>, { kind: 'authenticated' }>): GuardDenial {
  if (verdict.kind !== 'unavailable') return verdict.kind === 'forbidden' ? ACCESS_DENIED : SESSION_REJECTED;
  const { reason, retryAfterSeconds } = verdict;
  return { ...SERVICE_UNAVAILABLE, reason, retryAfterSeconds };
}

export function reportDenial({ code, rule, wouldDeny }: DenialMessage): void {
  if (DENIALS.hasSubscribers) DENIALS.publish({ code, rule, wouldDeny });
}

/**
 * Builds an error without a stack trace. A denial is an expected response, and under a flood of refused
 * tokens the stack trace would be nearly all of its cost.
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
