import { randomBytes } from 'node:crypto';
import type { SessionStore, StoreLease } from '../contract/session-store.js';
import type { SharedTierSettings } from '../verifier/shared-tier.js';
import type { StoreAccess } from './store-access.js';

/** Lifetimes of leases. */
type LeaseSettings = Pick<SharedTierSettings, 'leaseMs' | 'graceMs'>;

const HOLDER_BYTES = 9;
/** Heartbeats within a grace period. */
const HEARTBEATS = 3;

/** The leases of this instance. While it holds one, it sends heartbeats to the store. */
export class Leases {
  readonly #store: SessionStore;
  readonly #access: StoreAccess;
  readonly #settings: LeaseSettings;
  readonly #holder = randomBytes(HOLDER_BYTES).toString('base64url');
  /** Time at which each lease was taken, the oldest first. */
  readonly #held = new Map<string, number>();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: SessionStore, access: StoreAccess, settings: LeaseSettings) {
    this.#store = store;
    this.#access = access;
    this.#settings = settings;
  }

  /** Returns a new lease to request from the store. */
  create(): StoreLease {
    const { leaseMs, graceMs } = this.#settings;
    return { id: this.#newId(), holder: this.#holder, ttlMs: leaseMs, graceMs };
  }

  /** Returns a lease that lasts for `ttlMs` milliseconds, without heartbeats. */
  createLock(ttlMs: number): StoreLease {
    return { id: this.#newId(), holder: this.#holder, ttlMs, graceMs: ttlMs };
  }

  /** Sends heartbeats for a lease that the store granted, until {@link end}. */
  hold(id: string): void {
    this.#held.set(id, performance.now());
    this.#beatLater();
  }

  /** Ends the heartbeats of a lease, because its call is over. */
  end(id: string): void {
    this.#held.delete(id);
  }

  /** Ends all heartbeats. */
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

  /** A lease younger than half a heartbeat interval needs no heartbeat yet: most calls end sooner. */
  #beat(): void {
    this.#timer = undefined;
    const [oldestMs] = this.#held.values();
    if (oldestMs === undefined) return;
    if (performance.now() - oldestMs >= this.#beatMs / 2) {
      void this.#access.try(() => this.#store.keepAlive(this.#holder, this.#settings.graceMs));
    }
    this.#beatLater();
  }

  get #beatMs(): number {
    return this.#settings.graceMs / HEARTBEATS;
  }
}
