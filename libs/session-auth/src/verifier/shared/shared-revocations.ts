import type { TokenKey } from '../../contract/session-identity.js';
import type { SessionStore } from '../../contract/session-store.js';
import type { Outbox } from './outbox.js';
import type { RevocationRecords } from './revocation-records.js';
import { RevocationBus, type BusMessage } from './revocation-bus.js';
import type { SessionSeal } from './session-seal.js';
import type { SharedCache } from './shared-cache.js';
import type { SharedTierReports } from './shared-tier-settings.js';
import type { StoreAccess } from './store-access.js';

/** Handles revocations by other instances. Sessions are identified by token digest. */
interface RevocationListener {
  /** Called when a session was signed out. */
  signedOut(tokenKey: TokenKey): void;
  /** Called when a look-up finds the tombstone of a session. */
  foundTombstone(tokenKey: TokenKey): void;
  /** Called when the service refused a session. */
  refused(tokenKey: TokenKey): void;
  /** Called when a session was evicted, and must be checked again. */
  evicted(tokenKey: TokenKey): void;
  /** Called when every session of a user was revoked. */
  userRevoked(username: string): void;
  /** Called when every session was revoked. */
  allRevoked(): void;
  /** Called when messages may have been lost, so that any cached session may be revoked. */
  messagesLost(): void;
  /** Returns whether an answer, confirmed at a time of the monotonic clock, is revoked according to this instance. */
  isRevoked(user: unknown, confirmedAtMs: number, tokenKey: TokenKey): boolean;
}

/** Collaborators of {@link SharedRevocations}. */
interface SharedRevocationsParts {
  readonly store: SessionStore;
  readonly access: StoreAccess;
  readonly seals: readonly SessionSeal[];
  readonly outbox: Outbox;
  readonly records: RevocationRecords;
  readonly cache: Pick<SharedCache<unknown>, 'delete'>;
  readonly reports: SharedTierReports;
}

/** Revokes sessions in the store and on the other instances. Writes that fail are retried. */
export class SharedRevocations {
  readonly #parts: SharedRevocationsParts;
  readonly #tombstoneMs: number;
  readonly #outbox: Outbox;
  readonly #bus: RevocationBus;
  #listener: RevocationListener | undefined;
  #unsubscribe: (() => Promise<void>) | undefined;

  constructor(parts: SharedRevocationsParts, tombstoneMs: number) {
    this.#parts = parts;
    this.#tombstoneMs = tombstoneMs;
    this.#outbox = parts.outbox;
    this.#bus = new RevocationBus(parts.store, parts.outbox, parts.seals);
  }

  /** Sets the tombstone of a session. Used before the service signs it out. */
  async setTombstone(tokenKey: TokenKey): Promise<void> {
    const { store } = this.#parts;
    const deliveries = this.#namesOf(tokenKey).map((name) =>
      this.#outbox.deliver({ name, forMs: this.#tombstoneMs, send: (leftMs) => store.setTombstone(name, leftMs) }),
    );
    await Promise.all(deliveries);
  }

  /** Removes the tombstone of a session: a sign-in has issued this token. */
  async clearTombstone(tokenKey: TokenKey): Promise<void> {
    const names = this.#namesOf(tokenKey);
    const cancelled = [this.#bus.cancel({ kind: 'signedOut', tokenKey }), ...names.map((name) => this.#outbox.cancel(name))];
    const { access, store } = this.#parts;
    await Promise.all(names.map((name) => access.insist(() => store.clearTombstone(name))));
    // An undelivered sign-out has left the answers from before it in the store and on other instances.
    if (cancelled.includes(true)) await this.evict(tokenKey);
  }

  /** Publishes a message to the other instances. Resolves after the first attempt. */
  publish(message: BusMessage): Promise<void> {
    return this.#bus.publish(message, this.#tombstoneMs);
  }

  /** Deletes a session that the service refused. Publishes the refusal if the session was cached, here or in the store. */
  async refused(tokenKey: TokenKey, kind: 'refused' | 'evicted', wasCached: boolean): Promise<void> {
    const wasStored = await this.#parts.cache.delete(tokenKey);
    if (wasCached || wasStored) await this.publish({ kind, tokenKey });
  }

  /** Evicts a session from the store and from all instances. */
  async evict(tokenKey: TokenKey): Promise<void> {
    // The record revokes answers that are still in flight to the store.
    await Promise.all([this.#parts.records.addSession(tokenKey), this.#parts.cache.delete(tokenKey)]);
    await this.publish({ kind: 'evicted', tokenKey });
  }

  /** Revokes every session of a user, in the store and on all instances. */
  async revokeUser(username: string): Promise<void> {
    await this.#parts.records.addUser(username);
    await this.publish({ kind: 'userRevoked', username });
  }

  /** Revokes every session, in the store and on all instances. */
  async revokeAll(): Promise<void> {
    await this.#parts.records.addAll();
    await this.publish({ kind: 'allRevoked' });
  }

  /** Passes a tombstone that a look-up found to the listener. */
  foundTombstone(tokenKey: TokenKey): void {
    this.#listener?.foundTombstone(tokenKey);
  }

  /** Returns whether an answer, confirmed at a time of the monotonic clock, is revoked according to this instance. */
  isRevoked(user: unknown, confirmedAtMs: number, tokenKey: TokenKey): boolean {
    return this.#listener?.isRevoked(user, confirmedAtMs, tokenKey) === true;
  }

  subscribe(listener: RevocationListener): void {
    const { reports } = this.#parts;
    this.#listener = listener;
    this.#unsubscribe = this.#bus.subscribe((message) => receive(listener, message), {
      subscribed: () => {
        reports.busStateChanged('connected');
        listener.messagesLost();
        void this.#outbox.flush();
      },
      interrupted: (reason) => reports.busStateChanged('interrupted', reason),
      clockDiffers: () => reports.clockDiffers(),
    });
  }

  async close(): Promise<void> {
    this.#outbox.close();
    await this.#unsubscribe?.();
  }

  /** Returns the names of a session in the store: one for each key that encrypts it. */
  #namesOf(tokenKey: TokenKey): string[] {
    return this.#parts.seals.map((seal) => seal.nameOf(tokenKey));
  }
}

function receive(listener: RevocationListener, message: BusMessage): void {
  if ('tokenKey' in message) listener[message.kind](message.tokenKey);
  else if ('username' in message) listener.userRevoked(message.username);
  else listener.allRevoked();
}
