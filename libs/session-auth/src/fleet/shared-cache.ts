import { readUser, usernamesOf } from '../contract/record/user-record.js';
import type { SessionIdentity, SessionKeys, TokenKey } from '../contract/session-identity.js';
import type { StoreEntry, StoreLease } from '../contract/session-store.js';
import type { Authenticated } from '../contract/outcome.js';
import type { RevocationListener } from '../verifier/shared-tier.js';
import { HostClock } from './host-clock.js';
import type { SessionSeal } from './session-seal.js';
import { readSharedRecord, writeSharedRecord } from './shared-record.js';
import type { StoreAccess } from './store-access.js';

interface SharedCacheParts<User> {
  readonly access: StoreAccess;
  readonly readUser: (json: object) => User | undefined;
  readonly ttlMs: number;
  readonly isRevokedHere: RevocationListener['isRevokedSince'];
  readonly clockDiffers: () => void;
}

export type LookUp<User> =
  | { readonly kind: 'found'; readonly verdict: Authenticated<User> }
  | { readonly kind: 'revoked' }
  | {
      /** Another instance holds this lease. */
      readonly kind: 'leased';
      readonly lease: string;
    }
  | {
      readonly kind: 'missing';
      readonly taken?: string | undefined;
      /** Time of the store's clock at the look-up; `undefined` if the store did not answer. */
      readonly sinceMs: number | undefined;
    };

interface Wanted {
  readonly session: SessionIdentity;
  readonly keys: SessionKeys;
  readonly maxAgeMs: number;
  /** Secrets under whose names it may be stored. A lease is taken under the first. */
  readonly seals: readonly SessionSeal[];
  readonly lease?: StoreLease | undefined;
}

/**
 * Assumed maximum difference between the clocks of a store's nodes. A session confirmed within this time
 * after a revocation counts as revoked.
 */
const STORE_CLOCK_TOLERANCE_MS = 1_000;
export const UNANSWERED = { kind: 'missing', sinceMs: undefined } as const;

/**
 * The session cache in a store. Values are sealed, and keys reveal nothing. An unusable entry counts as
 * missing.
 */
export class SharedCache<User> {
  readonly #parts: SharedCacheParts<User>;
  readonly #access: StoreAccess;
  readonly #hostClock = new HostClock();

  constructor(parts: SharedCacheParts<User>) {
    this.#parts = parts;
    this.#access = parts.access;
  }

  /**
   * Looks up a session that is younger than `maxAgeMs`. Takes `lease`, if set, when there is no entry. Never
   * rejects.
   */
  find(
    session: SessionIdentity,
    keys: SessionKeys,
    maxAgeMs: number,
    lease?: StoreLease,
  ): Promise<LookUp<User>> {
    return this.#lookUp({ session, keys, maxAgeMs, seals: this.#access.seals, lease });
  }

  /** Looks up a session again, only under the first seal, with which instances store sessions. */
  findAgain(session: SessionIdentity, keys: SessionKeys): Promise<LookUp<User>> {
    return this.#lookUp({ session, keys, maxAgeMs: Infinity, seals: [this.#access.seals[0]] });
  }

  async lockRefresh({ tokenKey }: SessionKeys, lease: StoreLease): Promise<boolean> {
    const { store, seals } = this.#access;
    const entry = await this.#access.try(() => store.get(`${seals[0].nameOf(tokenKey)}.refresh`, lease));
    return entry?.kind !== 'leased';
  }

  /**
   * Stores an answer of the service that is `ageMs` old. `sinceMs`: a time of the store's clock before the
   * call was sent. Resolves to `false` if the session was revoked since.
   * @throws RangeError for a record that is nested too deeply
   */
  set(keys: SessionKeys, json: object, ageMs: number, sinceMs: number): Promise<boolean> {
    const { store, seals } = this.#access;
    const { ttlMs } = this.#parts;
    const ages = { ttlMs, ageMs, sinceMs, hostMs: this.#hostClock.now() };
    const value = seals[0].sealValue(keys, writeSharedRecord(json, keys.tokenKey, ages));
    const name = seals[0].nameOf(keys.tokenKey);
    return this.#access.try(() => store.set(name, value, ttlMs - ageMs)).then((isSet) => isSet ?? true);
  }

  async delete(tokenKey: TokenKey): Promise<boolean> {
    const { store, seals } = this.#access;
    const deleted = await Promise.all(
      seals.map((seal) => this.#access.insist(() => store.delete(seal.nameOf(tokenKey)))),
    );
    return deleted.includes(true);
  }

  async releaseLease({ tokenKey }: SessionKeys, id: string): Promise<void> {
    const { store, seals } = this.#access;
    await this.#access.insist(() => store.releaseLease(seals[0].nameOf(tokenKey), id));
  }

  /**
   * All commands of a look-up have one time limit. Releases a lease that is granted too late: other instances
   * would wait for an answer that is never stored.
   */
  async #lookUp(wanted: Wanted): Promise<LookUp<User>> {
    const late = (found: LookUp<User>): void => {
      if (found.kind === 'missing' && found.taken !== undefined)
        void this.releaseLease(wanted.keys, found.taken);
    };
    return (await this.#access.try(() => this.#get(wanted), late)) ?? UNANSWERED;
  }

  async #get(wanted: Wanted): Promise<LookUp<User>> {
    const { seals, keys, lease } = wanted;
    const askedAtMs = performance.now();
    const answers = seals.map((seal, index) =>
      this.#access.store.get(seal.nameOf(keys.tokenKey), index === 0 ? lease : undefined),
    );
    // A tombstone counts at once: the other answers may never arrive.
    const entries = await Promise.race([Promise.all(answers), tombstoneAmong(answers)]);
    if (!entries || entries.some(({ kind }) => kind === 'tombstone')) {
      if (lease) void this.releaseLease(keys, lease.id);
      return { kind: 'revoked' };
    }
    const [first] = entries;
    if (typeof first?.storeTimeMs !== 'number') throw new TypeError();
    const taken = first.kind === 'none' ? lease?.id : undefined;
    for (const [index, seal] of seals.entries()) {
      const verdict = await this.#verdictOf(entries[index], seal, wanted, askedAtMs);
      if (!verdict) continue;
      if (taken !== undefined) void this.releaseLease(keys, taken);
      return { kind: 'found', verdict };
    }
    if (first.kind === 'leased') return { kind: 'leased', lease: first.lease };
    return { kind: 'missing', taken, sinceMs: first.storeTimeMs };
  }

  async #verdictOf(
    entry: StoreEntry | undefined,
    seal: SessionSeal,
    { session, keys, maxAgeMs }: Wanted,
    askedAtMs: number,
  ): Promise<Authenticated<User> | undefined> {
    if (entry?.kind !== 'value') return undefined;
    const { ttlMs, isRevokedHere, clockDiffers } = this.#parts;
    const text = seal.openValue(keys, entry.value);
    if (text === undefined) return undefined;
    const record = readSharedRecord(text, session.token, { ...entry, hostMs: this.#hostClock.now() });
    if (record?.clockDiffers) clockDiffers();
    // Negated, so that an age of NaN is too old.
    if (!record || !(record.ageMs < Math.min(maxAgeMs, ttlMs, record.ttlMs))) return undefined;
    const user = readUser(record.json, this.#parts.readUser);
    if (user === undefined || (await this.#isRevoked(user as object, keys.tokenKey, record.sinceMs)))
      return undefined;
    // The store computed the age after the look-up was sent, so that the session is no younger than this.
    const confirmedAtMs = askedAtMs - record.ageMs;
    if (isRevokedHere(user, confirmedAtMs, keys.tokenKey)) return undefined;
    // Another instance may have a shorter lifetime than this one.
    const cacheForMs = record.ttlMs < ttlMs ? { cacheForMs: record.ttlMs } : {};
    return { kind: 'authenticated', user, confirmedAtMs, ...cacheForMs };
  }

  async #isRevoked(user: object, tokenKey: TokenKey, sinceMs: number): Promise<boolean> {
    const { store, seals } = this.#access;
    const names = seals.flatMap((seal) => [
      seal.nameOfAll,
      seal.nameOfRevoked(tokenKey),
      ...usernamesOf(user).map((name) => seal.nameOfUser(name)),
    ]);
    const revokedAtMs = await store.getRevocations(names);
    return revokedAtMs.some((atMs) => atMs !== undefined && !(sinceMs > atMs + STORE_CLOCK_TOLERANCE_MS));
  }
}

/** Resolves if one of the answers is a tombstone, as soon as it arrives. */
function tombstoneAmong(answers: readonly Promise<StoreEntry>[]): Promise<undefined> {
  return new Promise((resolve) => {
    for (const answer of answers)
      answer.then(
        // A store may resolve to anything.
        (entry?: StoreEntry) => entry?.kind === 'tombstone' && resolve(undefined),
        () => undefined,
      );
  });
}
