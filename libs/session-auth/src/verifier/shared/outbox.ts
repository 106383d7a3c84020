import type { StoreAccess } from './store-access.js';

const MAX_PENDING = 10_000;
const RETRY_MS = 500;
/** Maximum number of concurrent retries. */
const BATCH = 32;

/** A write to a store that must not be lost. */
interface Delivery {
  /** Identifies the subject of the delivery. A later delivery with the same name replaces it. */
  readonly name: string;
  /** Milliseconds after which the delivery is no longer needed. */
  readonly forMs: number;
  /** Makes one attempt. `leftMs`: remaining milliseconds of `forMs`. */
  readonly send: (leftMs: number) => Promise<unknown>;
}

interface Pending extends Delivery {
  readonly untilMs: number;
}

/** Delivers revocations to a store, and retries failed ones until they are delivered or no longer needed. */
export class Outbox {
  readonly #access: StoreAccess;
  readonly #pending = new Map<string, Pending>();
  #timer: NodeJS.Timeout | undefined;
  #isFlushing = false;
  #isClosed = false;

  constructor(access: StoreAccess) {
    this.#access = access;
  }

  /** Delivers to the store, with retries. Resolves after the first attempt. Never rejects. */
  async deliver(delivery: Delivery): Promise<void> {
    const pending = { ...delivery, untilMs: performance.now() + delivery.forMs };
    // Before the attempt, so that `cancel` during the attempt prevents the next.
    this.#add(pending);
    if (await this.#attempt(pending)) this.#remove(pending);
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

  /** Cancels all deliveries, and stops retries. */
  close(): void {
    this.#isClosed = true;
    this.#pending.clear();
    clearTimeout(this.#timer);
  }

  #add(pending: Pending): void {
    this.#pending.delete(pending.name);
    const [oldest] = this.#pending.keys();
    if (oldest !== undefined && this.#pending.size >= MAX_PENDING) this.#pending.delete(oldest);
    this.#pending.set(pending.name, pending);
  }

  /** Returns whether the delivery is done. A delivery that fails again moves to the end of the queue, so that it does not delay others. */
  async #retry(pending: Pending): Promise<boolean> {
    const isDone = !this.#isPending(pending) || pending.untilMs <= performance.now() || (await this.#attempt(pending));
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

  async #attempt({ send, untilMs }: Pending): Promise<boolean> {
    const leftMs = Math.max(1, Math.ceil(untilMs - performance.now()));
    return (await this.#access.insist(() => send(leftMs).then(() => true))) ?? false;
  }

  /** Uses a timer, because a restored subscription does not imply that the connection for commands works. */
  #retryLater(): void {
    if (this.#isClosed || this.#pending.size === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), RETRY_MS).unref();
  }
}
