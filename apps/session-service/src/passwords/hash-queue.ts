import { ServiceUnavailableException } from '@nestjs/common';

/** Too many passwords wait to be hashed: 503. */
export class HashQueueFullError extends ServiceUnavailableException {
  override readonly name = 'HashQueueFullError';
}

/**
 * Limits the hashes that run and those that wait. A hash uses a core and 19 MiB for tens of milliseconds:
 * without a limit, a burst of sign-ins would starve the checks of signed-in users.
 */
export class HashQueue {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  /**
   * @param maxRunning - hashes that run at once
   * @param maxWaiting - hashes that wait; further ones are refused
   */
  constructor(
    private readonly maxRunning = 2,
    private readonly maxWaiting = 256,
  ) {}

  /** Runs the hash in its turn: first in, first out. */
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
