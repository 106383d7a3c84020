import { STATUS_CODES } from 'node:http';
import { BadRequestException, ForbiddenException, HttpException, ServiceUnavailableException, UnauthorizedException } from '@nestjs/common';
import { type DenialMessage, DENIALS } from '../contract/diagnostics.js';
import type { SessionAuthError, SessionServiceUnavailableError } from '../contract/errors.js';
import type { Unavailable, Verdict } from '../contract/outcome.js';

/** A refusal as HTTP says it. */
export interface HttpDenial {
  readonly statusCode: number;
  readonly code: string;
  readonly message: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The same as the `retry-after` header, for what has no headers. */
  readonly retryAfterSeconds?: number;
}

/** One of the guard's own refusals, which has one of four codes. */
export interface GuardDenial extends HttpDenial {
  readonly code: DenialMessage['code'];
}

const CHALLENGE = ['www-authenticate', 'X-Auth-Token realm="session"'] as const;
const INVALID_TOKEN_CHALLENGE = ['www-authenticate', `${CHALLENGE[1]}, error="invalid_token"`] as const;

/** 401: no token was presented. */
export const SESSION_REQUIRED: GuardDenial = {
  statusCode: 401,
  code: 'SESSION_REQUIRED',
  message: 'A session token is required',
  headers: [CHALLENGE],
};

/** 401: a token was presented and refused. */
export const SESSION_REJECTED: GuardDenial = {
  statusCode: 401,
  code: 'SESSION_REJECTED',
  message: 'The session is not valid',
  headers: [INVALID_TOKEN_CHALLENGE],
};

/** 403: the caller may not enter. It does not say what was required. */
export const ACCESS_DENIED: GuardDenial = { statusCode: 403, code: 'ACCESS_DENIED', message: 'Access is denied', headers: [] };

/** 503: nobody can say now whether the session is valid. */
export function unavailableDenial({ retryAfterSeconds }: Pick<Unavailable, 'retryAfterSeconds'>): GuardDenial {
  return {
    statusCode: 503,
    code: 'SESSION_SERVICE_UNAVAILABLE',
    message: 'The session service is unavailable; try again later',
    headers: [['retry-after', String(retryAfterSeconds)]],
    retryAfterSeconds,
  };
}

/** The same for an error of the service class that a controller let through. */
export function denialOf(error: SessionAuthError): HttpDenial {
  if (error.code === SESSION_REJECTED.code) return SESSION_REJECTED;
  if (isUnavailable(error)) return { ...unavailableDenial(error), message: error.message };
  const { statusCode, code, message } = error;
  return { statusCode, code, message, headers: statusCode === 401 ? [CHALLENGE] : [] };
}

/** By its code, because it may be an error of another copy of this package. */
function isUnavailable(error: SessionAuthError): error is SessionServiceUnavailableError {
  return error.code === 'SESSION_SERVICE_UNAVAILABLE' && 'retryAfterSeconds' in error;
}

/** The body of a denial: Nest's usual one, and a stable `code`. */
export function bodyOf({ statusCode, code, message }: HttpDenial): object {
  return { statusCode, message, error: STATUS_CODES[statusCode], code };
}

/** The exception to throw: Nest's own for the status, with {@link bodyOf} and what else is to be in the body. */
export function exceptionOf(denial: HttpDenial, more: object = {}): HttpException {
  const body = { ...bodyOf(denial), ...more };
  return withoutStack(() => httpException(denial.statusCode, body));
}

function httpException(statusCode: number, body: object): HttpException {
  switch (statusCode) {
    case 400:
      return new BadRequestException(body);
    case 401:
      return new UnauthorizedException(body);
    case 403:
      return new ForbiddenException(body);
    case 503:
      return new ServiceUnavailableException(body);
    default:
      return new HttpException(body, statusCode);
  }
}

/** The denial that a verdict stands for. */
export function denialOfVerdict(verdict: Exclude<Verdict<unknown>, { kind: 'authenticated' }>): GuardDenial {
  if (verdict.kind === 'unavailable') return unavailableDenial(verdict);
  return verdict.kind === 'forbidden' ? ACCESS_DENIED : SESSION_REJECTED;
}

/** Publishes a denial to its diagnostics channel, if that has subscribers. */
export function reportDenial({ code }: GuardDenial): void {
  if (DENIALS.hasSubscribers) DENIALS.publish({ code });
}

/** A refusal as the client of a socket or of a microservice gets it. `status` is Nest's word; `code` is one of the stable codes. */
export interface DenialPayload {
  readonly status: 'error';
  readonly statusCode: number;
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

export function payloadOf({ statusCode, code, message, retryAfterSeconds }: HttpDenial): DenialPayload {
  return { status: 'error', statusCode, code, message, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
}

/**
 * Builds an error without a stack trace. A refusal is an answer and not a fault: under a flood of refused tokens
 * the trace would be nearly all of its cost.
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
