import type { StoreAccess } from './store-access.js';

const MAX_PENDING = 10_000;
const RETRY_MS = 500;

/** Something that a store must learn. */
export interface Delivery {
  /** Names what it is about: a later delivery of the same name replaces it. */
  readonly name: string;
  /** Milliseconds for which it matters. */
  readonly forMs: number;
  /** Delivers it, with the milliseconds left. */
  readonly send: (leftMs: number) => Promise<unknown>;
}

interface Pending extends Delivery {
  readonly untilMs: number;
}

/** Delivers revocations to a store, and repeats those that failed until they are delivered or no longer matter. */
export class Outbox {
  readonly #access: StoreAccess;
  readonly #pending = new Map<string, Pending>();
  #timer: NodeJS.Timeout | undefined;
  #isFlushing = false;
  #isClosed = false;

  constructor(access: StoreAccess) {
    this.#access = access;
  }

  /** Resolves after the first attempt. Never rejects. */
  async deliver(delivery: Delivery): Promise<void> {
    const pending = { ...delivery, untilMs: performance.now() + delivery.forMs };
    // Before the attempt, so that `cancel` during the attempt prevents the next.
    this.#add(pending);
    if (await this.#attempt(pending)) this.#remove(pending);
    else this.#retryLater();
  }

  /** Forgoes the repetition of a delivery. */
  cancel(name: string): void {
    this.#pending.delete(name);
  }

  /** Repeats now what failed. Stops at the first that fails again. */
  async flush(): Promise<void> {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    for (const pending of [...this.#pending.values()]) {
      if (this.#pending.get(pending.name) !== pending) continue;
      if (pending.untilMs > performance.now() && !(await this.#attempt(pending))) break;
      this.#remove(pending);
    }
    this.#isFlushing = false;
    this.#retryLater();
  }

  /** Delivers nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#pending.clear();
    clearTimeout(this.#timer);
  }

  #add(pending: Pending): void {
    const [oldest] = this.#pending.keys();
    if (oldest !== undefined && this.#pending.size >= MAX_PENDING) this.#pending.delete(oldest);
    this.#pending.delete(pending.name);
    this.#pending.set(pending.name, pending);
  }

  #remove(pending: Pending): void {
    if (this.#pending.get(pending.name) === pending) this.#pending.delete(pending.name);
  }

  async #attempt({ send, untilMs }: Pending): Promise<boolean> {
    const leftMs = Math.max(1, Math.ceil(untilMs - performance.now()));
    return (await this.#access.insist(() => send(leftMs).then(() => true))) ?? false;
  }

  /** A restored subscription says little about the connection for commands, so that a timer decides. */
  #retryLater(): void {
    if (this.#isClosed || this.#pending.size === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), RETRY_MS).unref();
  }
}
