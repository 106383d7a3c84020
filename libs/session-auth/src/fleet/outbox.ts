const MAX_PENDING = 10_000;
const RETRY_MS = 500;
/** Maximum number of concurrent retries. */
const BATCH = 32;
/**
 * Longest time, in milliseconds, that {@link Outbox.close} waits for deliveries: a client of the store may
 * still be connecting.
 */
const CLOSE_MS = 750;
const CLOSE_PAUSE_MS = 25;

/** A revocation that must reach the store and the other instances. */
interface Delivery {
  /** Identifies the subject of the delivery. A later delivery with the same name replaces it. */
  readonly name: string;
  /** Milliseconds after which the delivery is no longer needed. */
  readonly forMs: number;
  /**
   * Makes one attempt. Never rejects. `leftMs`: remaining milliseconds of `forMs`. `isPending`: whether it is
   * neither replaced nor cancelled.
   */
  readonly send: (leftMs: number, isPending: () => boolean) => Promise<boolean>;
}

interface Pending extends Delivery {
  readonly untilMs: number;
}

/** Callbacks of an {@link Outbox}. */
interface OutboxReports {
  /**
   * Called when too many deliveries are pending. They are cancelled: one delivery has to replace all of them.
   */
  overflowed(): void;
  /** Called when deliveries are given up because the application closes. */
  lost(count: number): void;
}

/** Delivers revocations, and retries failed ones until they are delivered or no longer needed. */
export class Outbox {
  readonly #reports: OutboxReports;
  readonly #pending = new Map<string, Pending>();
  #timer: NodeJS.Timeout | undefined;
  #isFlushing = false;
  #isClosed = false;

  constructor(reports: OutboxReports) {
    this.#reports = reports;
  }

  /** Makes a delivery, with retries. Resolves after the first attempt. Never rejects. */
  async deliver(delivery: Delivery): Promise<void> {
    const pending = { ...delivery, untilMs: performance.now() + delivery.forMs };
    // Before the attempt, so that `cancel` during the attempt prevents the next.
    this.#add(pending);
    if (await this.#attempt(pending)) this.#remove(pending);
    else if (this.#isClosed) this.#giveUp();
    else this.#retryLater();
  }

  /** Cancels the retries of a delivery. Returns whether it was not delivered yet. */
  cancel(name: string): boolean {
    return this.#pending.delete(name);
  }

  /** Retries all failed deliveries now. Stops when a whole batch fails again. */
  async flush(): Promise<void> {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    const all = [...this.#pending.values()];
    for (let start = 0; start < all.length; start += BATCH) {
      const done = await Promise.all(all.slice(start, start + BATCH).map((pending) => this.#retry(pending)));
      if (!done.includes(true)) break;
    }
    this.#isFlushing = false;
    this.#retryLater();
  }

  /**
   * Makes the pending deliveries for as long as {@link CLOSE_MS}, reports how many it gives up, and stops
   * retries.
   */
  async close(): Promise<void> {
    // A sign-out whose call has just ended with the deadlines has its delivery in this turn.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#pending.size > 0) await this.#drained();
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#giveUp();
  }

  /**
   * Its timers are the only ones that keep the process alive: it would end before these deliveries are made,
   * or reported.
   */
  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(deadline);
        clearInterval(retries);
        resolve();
      };
      const retry = async (): Promise<void> => {
        await this.flush();
        if (this.#pending.size === 0) end();
      };
      const deadline = setTimeout(end, CLOSE_MS);
      const retries = setInterval(() => void retry(), CLOSE_PAUSE_MS);
      void retry();
    });
  }

  #giveUp(): void {
    if (this.#pending.size > 0) this.#reports.lost(this.#pending.size);
    this.#pending.clear();
  }

  #add(pending: Pending): void {
    this.#pending.delete(pending.name);
    if (this.#pending.size >= MAX_PENDING) {
      this.#pending.clear();
      this.#reports.overflowed();
    }
    this.#pending.set(pending.name, pending);
  }

  /**
   * Returns whether the delivery is done. A delivery that fails again moves to the end of the queue, so that
   * it does not delay others.
   */
  async #retry(pending: Pending): Promise<boolean> {
    const isDone =
      !this.#isPending(pending) || pending.untilMs <= performance.now() || (await this.#attempt(pending));
    if (isDone) this.#remove(pending);
    else if (this.#isPending(pending)) this.#add(pending);
    return isDone;
  }

  #isPending(pending: Pending): boolean {
    return this.#pending.get(pending.name) === pending;
  }

  #remove(pending: Pending): void {
    if (this.#isPending(pending)) this.#pending.delete(pending.name);
  }

  #attempt(pending: Pending): Promise<boolean> {
    const leftMs = Math.max(1, Math.ceil(pending.untilMs - performance.now()));
    return pending.send(leftMs, () => this.#isPending(pending));
  }

  /** Uses a timer, because a restored subscription does not imply that the connection for commands works. */
  #retryLater(): void {
    if (this.#isClosed || this.#pending.size === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), RETRY_MS).unref();
  }
}
