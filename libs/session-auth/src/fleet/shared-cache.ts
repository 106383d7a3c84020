import { readUser, usernamesOf } from '../contract/record/user-record.js';
import type { SessionIdentity, SessionKeys, TokenKey } from '../contract/session-identity.js';
import type { StoreEntry } from '../contract/session-store.js';
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
  | {
      /** The session has a tombstone. */
      readonly kind: 'revoked';
    }
  | {
      /** There is no usable answer. */
      readonly kind: 'missing';
      /** Time of the store's clock at the look-up. */
      readonly sinceMs: number;
    }
  | {
      /** The store did not answer, or not in time. */
      readonly kind: 'unanswered';
    };

interface Wanted {
  readonly session: SessionIdentity;
  readonly keys: SessionKeys;
  readonly maxAgeMs: number;
}

/**
 * Assumed maximum difference between the clocks of a store's nodes. A session confirmed within this time
 * after a revocation counts as revoked.
 */
const STORE_CLOCK_TOLERANCE_MS = 1_000;

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

  /** Looks up a session that is younger than `maxAgeMs`. Never rejects. */
  async find(session: SessionIdentity, keys: SessionKeys, maxAgeMs: number): Promise<LookUp<User>> {
    // All commands of a look-up have one time limit.
    const found = await this.#access.try(() => this.#lookUp({ session, keys, maxAgeMs }));
    return found ?? { kind: 'unanswered' };
  }

  /**
   * Stores an answer of the service that is `ageMs` old. `sinceMs`: a time of the store's clock before the
   * call was sent. Resolves to `false` if the session was revoked since. Never rejects.
   */
  async set(
    { token }: SessionIdentity,
    keys: SessionKeys,
    json: object,
    { ageMs, sinceMs }: { readonly ageMs: number; readonly sinceMs: number },
  ): Promise<boolean> {
    const { store, seals } = this.#access;
    const { ttlMs } = this.#parts;
    const name = seals[0].nameOf(keys.tokenKey);
    let value: Uint8Array;
    try {
      const ages = { ttlMs, ageMs, sinceMs, hostMs: this.#hostClock.now() };
      value = seals[0].sealValue(keys, writeSharedRecord(json, token, ages));
    } catch {
      // The record can't be written.
      return true;
    }
    return (await this.#access.try(() => store.set(name, value, ttlMs - ageMs))) ?? true;
  }

  async delete(tokenKey: TokenKey): Promise<boolean> {
    const { store, seals } = this.#access;
    const deleted = await Promise.all(
      seals.map((seal) => this.#access.insist(() => store.delete(seal.nameOf(tokenKey)))),
    );
    return deleted.includes(true);
  }

  async #lookUp(wanted: Wanted): Promise<LookUp<User>> {
    const { store, seals } = this.#access;
    const askedAtMs = performance.now();
    const answers = seals.map((seal) => store.get(seal.nameOf(wanted.keys.tokenKey)));
    // A tombstone counts at once: the other answers may never arrive.
    const entries = await Promise.race([Promise.all(answers), tombstoneAmong(answers)]);
    if (!entries || entries.some(({ kind }) => kind === 'tombstone')) return { kind: 'revoked' };
    for (const [index, seal] of seals.entries()) {
      const verdict = await this.#verdictOf(entries[index], seal, wanted, askedAtMs);
      if (verdict) return { kind: 'found', verdict };
    }
    const sinceMs = entries[0]?.storeTimeMs;
    if (typeof sinceMs !== 'number') throw new TypeError();
    return { kind: 'missing', sinceMs };
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
