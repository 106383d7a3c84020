import { ServiceUnavailableException } from '@nestjs/common';

/** Too many passwords wait to be hashed: 503, try again in a moment. */
export class HashQueueFullError extends ServiceUnavailableException {
  override readonly name = 'HashQueueFullError';
}

/**
 * Runs few hashes at once and lets few wait. A hash costs a core and 19 MiB for tens of milliseconds: without a bound, a
 * burst of sign-ins would starve the checks of those who are signed in.
 */
export class HashQueue {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  /**
   * @param maxRunning - hashes at once
   * @param maxWaiting - hashes that wait for their turn; one more is refused
   */
  constructor(
    private readonly maxRunning = 2,
    private readonly maxWaiting = 256,
  ) {}

  /** Runs the hash when its turn comes, first come first served. */
  async run<T>(hash: () => Promise<T>): Promise<T> {
    await this.enter();
    try {
      return await hash();
    } finally {
      this.leave();
    }
  }

  private async enter(): Promise<void> {
    if (this.running < this.maxRunning) {
      this.running += 1;
      return;
    }
    if (this.waiting.length >= this.maxWaiting) throw new HashQueueFullError();
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.running -= 1;
  }
}
