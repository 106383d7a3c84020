import { Logger } from '@nestjs/common';

const QUIET_MS = 60_000;

/** Logs an outage once a minute, not once per request. */
export class OutageLog {
  private readonly logger = new Logger('Database');
  private quietUntil = Number.NEGATIVE_INFINITY;

  /** Logs the message, unless one was logged within the last minute. */
  note(message: string): void {
    if (performance.now() < this.quietUntil) return;
    this.quietUntil = performance.now() + QUIET_MS;
    this.logger.error(message);
  }
}
