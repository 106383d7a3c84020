import { Logger } from '@nestjs/common';

const QUIET_MS = 60_000;

/**
 * Logs once a minute, not once per attempt, that sign-ins are refused. Names the caller, never an account.
 */
export class RefusalLog {
  private readonly logger = new Logger('SignIn');
  private quietUntil = Number.NEGATIVE_INFINITY;

  /** Logs the refusal, unless one was logged within the last minute. */
  note(caller: string): void {
    if (performance.now() < this.quietUntil) return;
    this.quietUntil = performance.now() + QUIET_MS;
    this.logger.warn(
      `Sign-ins are refused with 429 because too many have failed. The latest refused caller is ${caller}.`,
    );
  }
}
