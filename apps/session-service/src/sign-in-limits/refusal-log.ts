import { Logger } from '@nestjs/common';

const QUIET_MS = 60_000;

/** Warns once a minute that sign-ins are refused, and not once per attempt. Names the caller, never an account. */
export class RefusalLog {
  private readonly logger = new Logger('SignIn');
  private quietUntil = Number.NEGATIVE_INFINITY;

  /** Logs the refusal, unless one was logged within the last minute. */
  note(caller: string): void {
    if (performance.now() < this.quietUntil) return;
    this.quietUntil = performance.now() + QUIET_MS;
    this.logger.warn(`Sign-ins are refused with 429: too many have failed. The last refused caller is ${caller}.`);
  }
}
