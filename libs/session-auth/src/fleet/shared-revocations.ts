import type { TokenKey } from '../contract/session-identity.js';
import type { SessionStore } from '../contract/session-store.js';
import { nameOf, type Revocation } from '../verifier/revocation.js';
import { Outbox } from './outbox.js';
import { RevocationBus } from './revocation-bus.js';
import type { SessionSeal } from './session-seal.js';
import type { SharedCache } from './shared-cache.js';
import type {
  RevocationListener,
  SharedRevocations as Revocations,
  SharedTierReports,
} from '../verifier/shared-tier.js';
import type { StoreAccess } from './store-access.js';

/** Collaborators of {@link SharedRevocations}. */
interface SharedRevocationsParts {
  readonly store: SessionStore;
  readonly access: StoreAccess;
  readonly seals: readonly SessionSeal[];
  readonly cache: Pick<SharedCache<unknown>, 'delete'>;
  readonly reports: SharedTierReports;
}

/** Revokes sessions in the store and on the other instances. What fails is retried. */
export class SharedRevocations implements Revocations {
  readonly #parts: SharedRevocationsParts;
  readonly #lifetimeMs: number;
  readonly #outbox: Outbox;
  readonly #bus: RevocationBus;
  #listener: RevocationListener | undefined;
  #unsubscribe: (() => Promise<void>) | undefined;

  /** `lifetimeMs`: how long a tombstone is kept, and a delivery retried. */
  constructor(parts: SharedRevocationsParts, lifetimeMs: number) {
    this.#parts = parts;
    this.#lifetimeMs = lifetimeMs;
    this.#outbox = new Outbox({
      overflowed: () => void this.deliver({ kind: 'allRevoked' }),
      lost: (count) => parts.reports.lost(count),
    });
    this.#bus = new RevocationBus(parts.store, parts.access, parts.seals, lifetimeMs);
  }

  /**
   * Stores a revocation, then publishes it to the other instances, both after `before`. Resolves after the
   * first attempt.
   */
  async deliver(revocation: Revocation, before?: Promise<unknown>): Promise<void> {
    const { access } = this.#parts;
    const publish = this.#bus.publisherOf(revocation);
    let [isStored, isPublished] = [false, false];
    const beganMs = performance.now();
    const send = async (leftMs: number, isPending: () => boolean): Promise<boolean> => {
      await before;
      // Also a late answer counts: a slow store would get the same again and again.
      if (!isStored) await access.insist(() => this.#store(revocation, leftMs).then(() => (isStored = true)));
      if (!isPublished) await this.#bus.readClock();
      // A sign-in may have issued the token again meanwhile.
      if (!isPublished && this.#bus.knowsClockSince(beganMs) && isPending())
        await access.insist(() => publish().then(() => (isPublished = true)));
      return isStored && isPublished;
    };
    await this.#outbox.deliver({ name: nameOf(revocation), forMs: this.#lifetimeMs, send });
  }

  /** Sets the tombstone of a session. Used before the service signs it out. */
  async setTombstone(tokenKey: TokenKey): Promise<void> {
    const revocation = { kind: 'signedOut', tokenKey } as const;
    const { access } = this.#parts;
    const send = async (leftMs: number): Promise<boolean> =>
      (await access.insist(() => this.#store(revocation, leftMs).then(() => true))) ?? false;
    await this.#outbox.deliver({ name: nameOf(revocation), forMs: this.#lifetimeMs, send });
  }

  /** Removes the tombstone of a session: a sign-in has issued this token. */
  async clearTombstone(tokenKey: TokenKey): Promise<void> {
    const { access, store, seals } = this.#parts;
    const wasPending = this.#outbox.cancel(nameOf({ kind: 'signedOut', tokenKey }));
    const cleared = Promise.all(
      seals.map((seal) => access.insist(() => store.clearTombstone(seal.nameOf(tokenKey)))),
    );
    // An undelivered sign-out has left the answers from before it in the store and on other instances.
    // Pending at once, because an application that closes now waits for it.
    if (wasPending) await this.deliver({ kind: 'evicted', tokenKey }, cleared);
    else await cleared;
  }

  /**
   * Deletes a session that the service refused. Delivers the refusal if the session was cached, here or in
   * the store.
   */
  async refused(refusal: Revocation & { readonly tokenKey: TokenKey }, wasCached: boolean): Promise<void> {
    const wasStored = await this.#parts.cache.delete(refusal.tokenKey);
    if (wasCached || wasStored) await this.deliver(refusal);
  }

  /** Passes a tombstone that a look-up found to the listener. */
  foundTombstone(tokenKey: TokenKey): void {
    this.#listener?.foundTombstone(tokenKey);
  }

  /**
   * Returns whether an answer, confirmed at a time of the monotonic clock, is revoked according to this
   * instance.
   */
  isRevoked(user: unknown, confirmedAtMs: number, tokenKey: TokenKey): boolean {
    return this.#listener?.isRevoked(user, confirmedAtMs, tokenKey) === true;
  }

  subscribe(listener: RevocationListener): void {
    const { reports } = this.#parts;
    this.#listener = listener;
    this.#unsubscribe = this.#bus.subscribe({
      receive: (revocation) => listener.apply(revocation),
      subscribed: () => {
        reports.busStateChanged('connected');
        listener.messagesLost();
        void this.#outbox.flush();
      },
      interrupted: (reason) => reports.busStateChanged('interrupted', reason),
      clockDiffers: () => reports.clockDiffers(),
      unreadable: () => reports.unreadable(),
    });
  }

  /** Delivers what is pending, for a limited time, and reports what is lost. */
  async close(): Promise<void> {
    await Promise.all([this.#unsubscribe?.(), this.#outbox.close()]);
  }

  /**
   * Stores a revocation under the name of each secret, for `leftMs` milliseconds. Stored sessions are
   * compared with its time, of the store's clock.
   */
  async #store(revocation: Revocation, leftMs: number): Promise<void> {
    const { store, seals } = this.#parts;
    await Promise.all(seals.flatMap((seal) => storedWith(store, seal, revocation, leftMs)));
  }
}

function storedWith(
  store: SessionStore,
  seal: SessionSeal,
  revocation: Revocation,
  leftMs: number,
): Promise<unknown>[] {
  switch (revocation.kind) {
    case 'signedOut':
      return [store.setTombstone(seal.nameOf(revocation.tokenKey), leftMs)];
    case 'refused':
      return [store.delete(seal.nameOf(revocation.tokenKey))];
    case 'evicted':
      // The record revokes answers that are still in flight to the store.
      return [
        store.setRevocation(seal.nameOfRevoked(revocation.tokenKey), leftMs),
        store.delete(seal.nameOf(revocation.tokenKey)),
      ];
    case 'userRevoked':
      return [store.setRevocation(seal.nameOfUser(revocation.username), leftMs)];
    case 'allRevoked':
      return [store.setRevocation(seal.nameOfAll, leftMs)];
  }
}
