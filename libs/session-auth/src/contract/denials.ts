import { STATUS_CODES } from 'node:http';

/** A denial, in terms of HTTP. */
export interface HttpDenial {
  readonly statusCode: number;
  readonly code: string;
  readonly message: string;
  /** Seconds, as in the `retry-after` header. */
  readonly retryAfterSeconds?: number | undefined;
}

/**
 * Returns the body of a denial: that of Nest's exceptions, and a stable `code`. A new one for each denial,
 * because a filter may change it.
 */
export function bodyOf({ statusCode, code, message, retryAfterSeconds }: HttpDenial): object {
  const body = { statusCode, message, error: STATUS_CODES[statusCode], code };
  return retryAfterSeconds === undefined ? body : { ...body, retryAfterSeconds };
}

/** 401: no token was presented. */
export const SESSION_REQUIRED = {
  statusCode: 401,
  code: 'SESSION_REQUIRED',
  message: 'A session token is required',
} as const satisfies HttpDenial;

/** 401: a token was presented and refused. */
export const SESSION_REJECTED = {
  statusCode: 401,
  code: 'SESSION_REJECTED',
  message: 'The session is not valid',
} as const satisfies HttpDenial;

/** 401: a sign-in was refused. Does not disclose which usernames exist. */
export const CREDENTIALS_REJECTED = {
  statusCode: 401,
  code: 'CREDENTIALS_REJECTED',
  message: 'The username or the password is wrong',
} as const satisfies HttpDenial;

/** 403: the caller has no access. Does not disclose the requirement. */
export const ACCESS_DENIED = {
  statusCode: 403,
  code: 'ACCESS_DENIED',
  message: 'Access is denied',
} as const satisfies HttpDenial;

/** 403: a page of another origin made the browser send the cookie of its user. */
export const CROSS_ORIGIN_DENIED = {
  statusCode: 403,
  code: 'CROSS_ORIGIN_DENIED',
  message: 'Pages of another origin have no access',
} as const satisfies HttpDenial;

/** 503: a rule of the handler could not be evaluated. Does not disclose which. */
export const ACCESS_CHECK_FAILED = {
  statusCode: 503,
  code: 'ACCESS_CHECK_FAILED',
  message: 'Access could not be checked; try again later',
  retryAfterSeconds: 5,
} as const satisfies HttpDenial;

/** 429: the session service limits sign-ins. Does not disclose whether the user name exists. */
export const TOO_MANY_ATTEMPTS = {
  statusCode: 429,
  code: 'TOO_MANY_ATTEMPTS',
  message: 'Too many sign-ins have failed; try again later',
} as const satisfies HttpDenial;

/** 503: the session service gave no usable answer. */
export const SERVICE_UNAVAILABLE = {
  statusCode: 503,
  code: 'SESSION_SERVICE_UNAVAILABLE',
  message: 'The session service is unavailable; try again later',
} as const satisfies HttpDenial;
