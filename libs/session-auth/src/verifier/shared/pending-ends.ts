import type { SessionStore } from '../../contract/session-store.js';
import type { StoreAccess } from './store-access.js';

const MAX_PENDING = 10_000;
const RETRY_MS = 500;

/** Marks sessions as ended; those that a store could not be told of are told again, as soon as it can be reached. */
export class PendingEnds {
  readonly #store: SessionStore;
  readonly #access: StoreAccess;
  readonly #pending = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(store: SessionStore, access: StoreAccess) {
    this.#store = store;
    this.#access = access;
  }

  /** Marks what stands under this name, for so long from now on. */
  async end(name: string, forMs: number): Promise<void> {
    this.#pending.delete(name);
    if (await this.#mark(name, forMs)) return;
    const [eldest] = this.#pending.keys();
    if (eldest !== undefined && this.#pending.size >= MAX_PENDING) this.#pending.delete(eldest);
    this.#pending.set(name, performance.now() + forMs);
    this.#retryLater();
  }

  /** A sign-in gave the token of this name again. */
  pardon(name: string): void {
    this.#pending.delete(name);
  }

  /** Tells the store what it has not been told yet. */
  async flush(): Promise<void> {
    for (const [name, until] of this.#pending) {
      const forMs = Math.ceil(until - performance.now());
      if (forMs > 0 && !(await this.#mark(name, forMs))) break;
      this.#pending.delete(name);
    }
    this.#retryLater();
  }

  /** Tells nothing any more. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** That messages can be heard again says little: the client of the store may need longer, and an ill store is left alone for a while. */
  #retryLater(): void {
    if (this.#closed || this.#pending.size === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), RETRY_MS).unref();
  }

  async #mark(name: string, forMs: number): Promise<boolean> {
    return (await this.#access.try(() => this.#store.end(name, forMs).then(() => true))) ?? false;
  }
}
