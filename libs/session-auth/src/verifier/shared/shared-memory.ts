import { setTimeout as delay } from 'node:timers/promises';
import { readUser } from '../../client/user-details-verdict.js';
import type { SessionIdentity } from '../../contract/session-identity.js';
import type { SessionStore, StoredSession } from '../../contract/session-store.js';
import type { Accepted } from '../../contract/verdict.js';
import type { SessionKeys } from '../session-key.js';
import type { PendingEnds } from './pending-ends.js';
import type { SessionSeal } from './session-seal.js';
import type { StoreAccess } from './store-access.js';
import { readSharedRecord, writeSharedRecord } from './shared-record.js';

/** How long and for how much a store is used. Milliseconds. */
export interface SharedMemorySettings {
  /** How long a session is kept. */
  readonly ttlMs: number;
  /** How long a session that was ended stays marked: longer than any instance could remember it or hear of it. */
  readonly endedMs: number;
  /** How long an instance leaves it to another one to ask the service. */
  readonly claimMs: number;
}

/** What a store knows of a session. */
export type Shared<User> = Accepted<User> | 'ended' | undefined;

const FIRST_LOOK_AGAIN_MS = 4;
const MAX_LOOK_AGAIN_MS = 50;

/** Sessions as a store keeps them: sealed, under names that tell nothing. What the store does wrong counts as nothing there. */
export class SharedMemory<User> {
  readonly #store: SessionStore;
  readonly #access: StoreAccess;
  readonly #seals: readonly [SessionSeal, ...SessionSeal[]];
  readonly #readUser: (json: object) => User | undefined;
  readonly #settings: SharedMemorySettings;
  readonly #pendingEnds: PendingEnds;

  constructor(
    { store, access, pendingEnds }: { store: SessionStore; access: StoreAccess; pendingEnds: PendingEnds },
    seals: readonly [SessionSeal, ...SessionSeal[]],
    readUser: (json: object) => User | undefined,
    settings: SharedMemorySettings,
  ) {
    this.#store = store;
    this.#access = access;
    this.#pendingEnds = pendingEnds;
    this.#seals = seals;
    this.#readUser = readUser;
    this.#settings = settings;
  }

  /** What is known of a session and younger than `maxAgeMs`. Waits while another instance asks the service; else it is ours to ask. Never rejects. */
  async find(session: SessionIdentity, keys: SessionKeys, maxAgeMs: number): Promise<Shared<User>> {
    const [seal, ...former] = this.#seals;
    for (const one of former) {
      const stored = await this.#take(one.nameOf(keys.token), 0);
      const shared = stored && this.#read(stored, one, session, keys, maxAgeMs);
      if (shared) return shared;
    }
    const stored = await this.#takeUnclaimed(seal.nameOf(keys.token));
    return stored && this.#read(stored, seal, session, keys, maxAgeMs);
  }

  /** Claims something of a session that only one instance is to do. An ill store leaves it to everyone. */
  async claim(keys: SessionKeys, use: string, forMs: number): Promise<boolean> {
    const stored = await this.#take(`${this.#seals[0].nameOf(keys.token)}.${use}`, forMs);
    return stored?.state !== 'claimed';
  }

  /** Keeps what the service was asked `ageMs` ago, for the rest of its lifetime. Gives `false` when the session was ended meanwhile. */
  async keep(keys: SessionKeys, json: object, ageMs: number): Promise<boolean> {
    const [seal] = this.#seals;
    const { ttlMs } = this.#settings;
    const value = seal.sealValue(keys, writeSharedRecord(json, keys.token, { ttlMs, ageMs }));
    return (await this.#access.try(() => this.#store.keep(seal.nameOf(keys.token), value, ttlMs - ageMs))) ?? true;
  }

  /** Marks a session as ended; as soon as the store can be reached again, if it can't now. */
  async end(token: string): Promise<void> {
    await Promise.all(this.#seals.map((seal) => this.#pendingEnds.end(seal.nameOf(token), this.#settings.endedMs)));
  }

  /** Gives up the claim to ask for a session. */
  async release(token: string): Promise<void> {
    await this.#access.try(() => this.#store.release(this.#seals[0].nameOf(token)).then(() => true));
  }

  /** Whether something is kept of a session. */
  async keeps(token: string): Promise<boolean> {
    const stored = await Promise.all(this.#seals.map((seal) => this.#take(seal.nameOf(token), 0)));
    return stored.some((one) => one?.state === 'kept');
  }

  /** Drops what is kept of a session, or the claim to ask for it. */
  async drop(token: string): Promise<void> {
    await this.#each(token, (name) => this.#store.drop(name));
  }

  /** Takes a mark back: a sign-in gave this token again. */
  async pardon(token: string): Promise<void> {
    await this.#each(token, (name) => {
      this.#pendingEnds.pardon(name);
      return this.#store.pardon(name);
    });
  }

  async #each(token: string, call: (name: string) => Promise<void>): Promise<void> {
    await Promise.all(this.#seals.map((seal) => this.#access.try(() => call(seal.nameOf(token)).then(() => true))));
  }

  #take(name: string, claimMs: number): Promise<StoredSession | undefined> {
    return this.#access.try(() => this.#store.take(name, claimMs));
  }

  async #takeUnclaimed(name: string): Promise<StoredSession | undefined> {
    const until = performance.now() + this.#settings.claimMs;
    for (let pauseMs = FIRST_LOOK_AGAIN_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_LOOK_AGAIN_MS)) {
      const stored = await this.#take(name, this.#settings.claimMs);
      if (stored?.state !== 'claimed' || performance.now() >= until) return stored;
      await delay(pauseMs, undefined, { ref: false });
    }
  }

  #read(stored: StoredSession, seal: SessionSeal, session: SessionIdentity, keys: SessionKeys, maxAgeMs: number): Shared<User> {
    if (stored.state === 'ended') return 'ended';
    if (stored.state !== 'kept') return undefined;
    const text = seal.openValue(keys, stored.value);
    const record = text === undefined ? undefined : readSharedRecord(text, session.token, stored.remainingMs);
    // An age that is no number is no age.
    if (!record || !(record.ageMs < Math.min(maxAgeMs, this.#settings.ttlMs))) return undefined;
    const user = readUser(record.json, this.#readUser);
    return user && { kind: 'accepted', user, ageMs: record.ageMs };
  }
}
