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
  const error = STATUS_CODES[statusCode];
  return retryAfterSeconds === undefined
    ? { statusCode, message, error, code }
    : { statusCode, message, error, code, retryAfterSeconds };
}
