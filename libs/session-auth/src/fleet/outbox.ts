import type { TokenKey } from '../contract/session-identity.js';
import type { SessionStore } from '../contract/session-store.js';
import type { Revocation } from '../verifier/revocations.js';
import { newId, type RevocationBus } from './revocation-bus.js';
import type { SessionSeal } from './session-seal.js';
import type { StoreAccess } from './store-access.js';

const MAX_PENDING = 10_000;
const RETRY_MS = 500;
const BATCH = 32;
/**
 * Longest time, in milliseconds, that {@link Outbox.close} waits for deliveries: a client of the store may
 * still be connecting.
 */
const CLOSE_MS = 750;
const CLOSE_PAUSE_MS = 25;

interface Delivery {
  readonly revocation: Revocation;
  /** Identifies its message, which may be sent several times. */
  readonly id: string;
  readonly beganMs: number;
  /** The revocation is neither stored nor published before this has settled. */
  readonly before: Promise<unknown> | undefined;
  isStored: boolean;
  isPublished: boolean;
}

/**
 * Delivers revocations to the store and to the other instances, and retries what failed until it is delivered
 * or no longer needed.
 */
export class Outbox {
  readonly #access: StoreAccess;
  readonly #bus: RevocationBus;
  readonly #lifetimeMs: number;
  readonly #onLost: (count: number) => void;
  readonly #pending = new Map<string, Delivery>();
  #timer: NodeJS.Timeout | undefined;
  #isFlushing = false;
  #isClosed = false;

  /**
   * `lifetimeMs`: how long a tombstone is kept, and a delivery retried. `onLost` is called with the number of
   * deliveries that are given up because the application closes.
   */
  constructor(access: StoreAccess, bus: RevocationBus, lifetimeMs: number, onLost: (count: number) => void) {
    this.#access = access;
    this.#bus = bus;
    this.#lifetimeMs = lifetimeMs;
    this.#onLost = onLost;
  }

  /**
   * Stores a revocation, then publishes it, both after `before`. Resolves after the first attempt. Never
   * rejects.
   */
  async deliver(revocation: Revocation, before?: Promise<unknown>): Promise<void> {
    const delivery = {
      revocation,
      id: newId(),
      beganMs: performance.now(),
      before,
      isStored: false,
      isPublished: revocation.kind === 'signingOut',
    };
    // Before the attempt, so that `cancelSignOut` during the attempt prevents the next.
    this.#add(delivery);
    if (await this.#try(delivery)) return;
    if (this.#isClosed) this.#giveUp();
    else this.#retryLater();
  }

  cancelSignOut(tokenKey: TokenKey): boolean {
    return this.#pending.delete(nameOf({ kind: 'signedOut', tokenKey }));
  }

  /** Retries all failed deliveries now. Stops when a whole batch fails again. */
  async flush(): Promise<void> {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    const all = [...this.#pending.values()];
    for (let start = 0; start < all.length; start += BATCH) {
      const done = await Promise.all(all.slice(start, start + BATCH).map((delivery) => this.#try(delivery)));
      if (!done.includes(true)) break;
    }
    this.#isFlushing = false;
    this.#retryLater();
  }

  async close(): Promise<void> {
    // A sign-out whose call has just ended with the deadlines has its delivery in this turn.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#pending.size > 0) await this.#drained();
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#giveUp();
  }

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
    if (this.#pending.size > 0) this.#onLost(this.#pending.size);
    this.#pending.clear();
  }

  /** One delivery for all replaces too many. */
  #add(delivery: Delivery): void {
    const name = nameOf(delivery.revocation);
    this.#pending.delete(name);
    if (this.#pending.size >= MAX_PENDING) {
      this.#pending.clear();
      void this.deliver({ kind: 'allRevoked' });
    }
    this.#pending.set(name, delivery);
  }

  #isPending(delivery: Delivery): boolean {
    return this.#pending.get(nameOf(delivery.revocation)) === delivery;
  }

  /**
   * Returns whether the delivery is done. One that fails moves to the end of the queue, so that it does not
   * delay others.
   */
  async #try(delivery: Delivery): Promise<boolean> {
    const isDone =
      !this.#isPending(delivery) || this.#leftMs(delivery) <= 0 || (await this.#attempt(delivery));
    if (!this.#isPending(delivery)) return isDone;
    if (isDone) this.#pending.delete(nameOf(delivery.revocation));
    else this.#add(delivery);
    return isDone;
  }

  #leftMs({ beganMs }: Delivery): number {
    return beganMs + this.#lifetimeMs - performance.now();
  }

  async #attempt(delivery: Delivery): Promise<boolean> {
    await delivery.before;
    // Also a late answer counts: a slow store would get the same again and again.
    await Promise.all([
      delivery.isStored ||
        this.#access.insist(() => this.#store(delivery).then(() => (delivery.isStored = true))),
      delivery.isPublished || this.#bus.readClock(),
    ]);
    // A sign-in may have issued the token again meanwhile.
    if (!delivery.isPublished && this.#bus.knowsClockSince(delivery.beganMs) && this.#isPending(delivery))
      await this.#access.insist(() => this.#bus.publish(delivery).then(() => (delivery.isPublished = true)));
    return delivery.isStored && delivery.isPublished;
  }

  async #store(delivery: Delivery): Promise<void> {
    const { store, seals } = this.#access;
    const leftMs = Math.max(1, Math.ceil(this.#leftMs(delivery)));
    await Promise.all(seals.map((seal) => storeWith(store, seal, delivery.revocation, leftMs)));
  }

  /** Uses a timer, because a restored subscription does not imply that the connection for commands works. */
  #retryLater(): void {
    if (this.#isClosed || this.#pending.size === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), RETRY_MS).unref();
  }
}

/** A sign-out has one name before and after its call. */
function nameOf(revocation: Revocation): string {
  const kind = revocation.kind === 'signingOut' ? 'signedOut' : revocation.kind;
  if ('tokenKey' in revocation) return `${kind} ${revocation.tokenKey}`;
  return 'username' in revocation ? `${kind} ${revocation.username}` : kind;
}

function storeWith(
  store: SessionStore,
  seal: SessionSeal,
  revocation: Revocation,
  leftMs: number,
): Promise<unknown> {
  switch (revocation.kind) {
    case 'signingOut':
    case 'signedOut':
      return store.setTombstone(seal.nameOf(revocation.tokenKey), leftMs);
    case 'refused':
      return store.delete(seal.nameOf(revocation.tokenKey));
    case 'evicted':
      // The record revokes answers that are still in flight to the store.
      return Promise.all([
        store.setRevocation(seal.nameOfRevoked(revocation.tokenKey), leftMs),
        store.delete(seal.nameOf(revocation.tokenKey)),
      ]);
    case 'userRevoked':
      return store.setRevocation(seal.nameOfUser(revocation.username), leftMs);
    case 'allRevoked':
      return store.setRevocation(seal.nameOfAll, leftMs);
  }
}
