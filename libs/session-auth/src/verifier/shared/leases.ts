import { randomBytes } from 'node:crypto';
import type { SessionStore, StoreLease } from '../../contract/session-store.js';
import type { StoreAccess } from './store-access.js';

/** How long leases last. Milliseconds. */
export interface LeaseSettings {
  /** As long as the check of a holder may take. */
  readonly leaseMs: number;
  /** How long other instances wait for a holder that has crashed or lost the store. */
  readonly graceMs: number;
}

const HOLDER_BYTES = 9;
/** Signs of life within a grace period. */
const BEATS = 3;

/** The leases of this instance. As long as it holds one, it tells the store that it is alive. */
export class Leases {
  readonly #store: SessionStore;
  readonly #access: StoreAccess;
  readonly #settings: LeaseSettings;
  readonly #holder = randomBytes(HOLDER_BYTES).toString('base64url');
  /** When each lease was taken, the oldest first. */
  readonly #held = new Map<string, number>();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: SessionStore, access: StoreAccess, settings: LeaseSettings) {
    this.#store = store;
    this.#access = access;
    this.#settings = settings;
  }

  /** Returns a lease to ask the store for. */
  create(): StoreLease {
    const { leaseMs, graceMs } = this.#settings;
    return { id: this.#newId(), holder: this.#holder, ttlMs: leaseMs, graceMs };
  }

  /** Returns a lease that lasts for so many milliseconds, whether this instance is alive or not. */
  createLock(ttlMs: number): StoreLease {
    return { id: this.#newId(), holder: this.#holder, ttlMs, graceMs: ttlMs };
  }

  /** Keeps a lease that the store gave, until {@link end}. */
  hold(id: string): void {
    this.#held.set(id, performance.now());
    this.#beatLater();
  }

  /** This instance does not ask any more. */
  end(id: string): void {
    this.#held.delete(id);
  }

  /** Gives up all leases. */
  close(): void {
    this.#held.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #newId(): string {
    return `${this.#holder}.${(this.#count += 1).toString(36)}`;
  }

  #beatLater(): void {
    this.#timer ??= setTimeout(() => this.#beat(), this.#beatMs).unref();
  }

  /** Leases that are younger than one beat need none: most calls end sooner. */
  #beat(): void {
    this.#timer = undefined;
    const [oldestMs] = this.#held.values();
    if (oldestMs === undefined) return;
    if (performance.now() - oldestMs >= this.#beatMs / 2) {
      void this.#access.try(() => this.#store.keepAlive(this.#holder, this.#settings.graceMs).then(() => true));
    }
    this.#beatLater();
  }

  get #beatMs(): number {
    return this.#settings.graceMs / BEATS;
  }
}
