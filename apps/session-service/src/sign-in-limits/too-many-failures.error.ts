import { HttpException, HttpStatus } from '@nestjs/common';

/**
 * Too many sign-ins have failed: 429 with `Retry-After`. The password of the attempt was not checked, or was
 * wrong.
 */
export class TooManyFailuresError extends HttpException {
  override readonly name = 'TooManyFailuresError';
  /** Whole seconds, at least 1. */
  readonly retryAfterSeconds: number;

  /** @param waitMs - milliseconds until an attempt is within the limits */
  constructor(waitMs: number) {
    super('Too many sign-ins failed.', HttpStatus.TOO_MANY_REQUESTS);
    this.retryAfterSeconds = Math.max(1, Math.ceil(Math.round(waitMs) / 1000));
  }
}
