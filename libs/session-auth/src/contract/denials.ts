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

function denial<const Status extends number, const Code extends string>(
  statusCode: Status,
  code: Code,
  message: string,
): HttpDenial & { readonly statusCode: Status; readonly code: Code } {
  return { statusCode, code, message };
}

/** 401: no token was presented. */
export const SESSION_REQUIRED = denial(401, 'SESSION_REQUIRED', 'A session token is required');

/** 401: a token was presented and refused. */
export const SESSION_REJECTED = denial(401, 'SESSION_REJECTED', 'The session is not valid');

/** 401: a sign-in was refused. Does not disclose which usernames exist. */
export const CREDENTIALS_REJECTED = denial(
  401,
  'CREDENTIALS_REJECTED',
  'The username or the password is wrong',
);

/** 403: the caller has no access. Does not disclose the requirement. */
export const ACCESS_DENIED = denial(403, 'ACCESS_DENIED', 'Access is denied');

/** 403: a page of another origin made the browser send the cookie of its user. */
export const CROSS_ORIGIN_DENIED = denial(
  403,
  'CROSS_ORIGIN_DENIED',
  'Pages of another origin have no access',
);

/** 503: a rule of the handler could not be evaluated. Does not disclose which. */
export const ACCESS_CHECK_FAILED = {
  ...denial(503, 'ACCESS_CHECK_FAILED', 'Access could not be checked; try again later'),
  retryAfterSeconds: 5,
};

/** 429: the session service limits sign-ins. Does not disclose whether the user name exists. */
export const TOO_MANY_ATTEMPTS = denial(
  429,
  'TOO_MANY_ATTEMPTS',
  'Too many sign-ins have failed; try again later',
);

/** 503: the session service gave no usable answer. */
export const SERVICE_UNAVAILABLE = denial(
  503,
  'SESSION_SERVICE_UNAVAILABLE',
  'The session service is unavailable; try again later',
);
