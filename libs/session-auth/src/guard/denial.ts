import { STATUS_CODES } from 'node:http';
import { BadRequestException, ForbiddenException, HttpException, ServiceUnavailableException, UnauthorizedException } from '@nestjs/common';
import { type DenialMessage, DENIALS } from '../contract/diagnostics.js';
import type { SessionAuthError, SessionServiceUnavailableError } from '../contract/errors.js';
import type { Unavailable, Verdict } from '../contract/outcome.js';

/** A denial, in terms of HTTP. */
export interface HttpDenial {
  readonly statusCode: number;
  readonly code: string;
  readonly message: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Seconds, as in the `retry-after` header. For transports without headers. */
  readonly retryAfterSeconds?: number;
}

/** A denial by the guard, with one of its four codes. */
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

/** 403: the caller has no access. Does not disclose the requirement. */
export const ACCESS_DENIED: GuardDenial = { statusCode: 403, code: 'ACCESS_DENIED', message: 'Access is denied', headers: [] };

/** Returns the denial with 503: the session service gave no usable answer. */
export function unavailableDenial({ retryAfterSeconds }: Pick<Unavailable, 'retryAfterSeconds'>): GuardDenial {
  return {
    statusCode: 503,
    code: 'SESSION_SERVICE_UNAVAILABLE',
    message: 'The session service is unavailable; try again later',
    headers: [['retry-after', String(retryAfterSeconds)]],
    retryAfterSeconds,
  };
}

/** Returns the denial for an error of `SessionAuthService` that a handler did not catch. */
export function denialOf(error: SessionAuthError): HttpDenial {
  if (error.code === SESSION_REJECTED.code) return SESSION_REJECTED;
  if (isUnavailable(error)) return { ...unavailableDenial(error), message: error.message };
  const { statusCode, code, message } = error;
  return { statusCode, code, message, headers: statusCode === 401 ? [CHALLENGE] : [] };
}

/** Compares the code and not the class: the error may come from another copy of this package. */
function isUnavailable(error: SessionAuthError): error is SessionServiceUnavailableError {
  return error.code === 'SESSION_SERVICE_UNAVAILABLE' && 'retryAfterSeconds' in error;
}

/** Returns the body of a denial: that of Nest's exceptions, and a stable `code`. */
export function bodyOf({ statusCode, code, message }: HttpDenial): object {
  return { statusCode, message, error: STATUS_CODES[statusCode], code };
}

/** Returns the exception of a denial: Nest's class for the status. Its body has the fields of {@link bodyOf} and of `extraFields`. */
export function exceptionOf(denial: HttpDenial, extraFields: object = {}): HttpException {
  const body = { ...bodyOf(denial), ...extraFields };
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

/** Returns the denial of a verdict. */
export function denialOfVerdict(verdict: Exclude<Verdict<unknown>, { kind: 'authenticated' }>): GuardDenial {
  if (verdict.kind === 'unavailable') return unavailableDenial(verdict);
  return verdict.kind === 'forbidden' ? ACCESS_DENIED : SESSION_REJECTED;
}

/** Publishes a denial to its diagnostics channel, if the channel has subscribers. */
export function reportDenial({ code }: GuardDenial): void {
  if (DENIALS.hasSubscribers) DENIALS.publish({ code });
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
