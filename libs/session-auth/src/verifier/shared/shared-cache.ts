import { readUser } from '../../client/user-details-verdict.js';
import type { SessionIdentity, SessionKeys, TokenKey } from '../../contract/session-identity.js';
import type { SessionStore, StoreEntry, StoreLease } from '../../contract/session-store.js';
import type { Authenticated } from '../../contract/outcome.js';
import type { RevocationRecords } from './revocation-records.js';
import type { SessionSeal } from './session-seal.js';
import { readSharedRecord, writeSharedRecord, type ReadRecord } from './shared-record.js';
import type { StoreAccess } from './store-access.js';

/** Collaborators of a {@link SharedCache}. */
interface SharedCacheParts<User> {
  readonly store: SessionStore;
  readonly access: StoreAccess;
  /** The first seals new values; all of them open values. */
  readonly seals: readonly [SessionSeal, ...SessionSeal[]];
  readonly records: RevocationRecords;
  readonly readUser: (json: object) => User | undefined;
  /** Lifetime of a session, in milliseconds. */
  readonly ttlMs: number;
  /** Returns whether an answer, confirmed at a time of the monotonic clock, is revoked according to this instance. */
  readonly isRevokedHere: (user: User, confirmedAtMs: number, tokenKey: TokenKey) => boolean;
  /** Called when the wall clock of another instance differs from that of this host. */
  readonly clockDiffers: () => void;
}

/** Result of a look-up. */
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
      /** Whether this instance has taken the lease. */
      readonly isHolder: boolean;
      /** Time of the store's clock at the look-up; `undefined` if the store did not answer. */
      readonly sinceMs: number | undefined;
    };

/** A session to look up. */
interface Wanted {
  readonly session: SessionIdentity;
  readonly keys: SessionKeys;
  readonly maxAgeMs: number;
}

/** The session cache in a store. Values are sealed, and keys reveal nothing. An unusable entry counts as missing. */
export class SharedCache<User> {
  readonly #parts: SharedCacheParts<User>;

  constructor(parts: SharedCacheParts<User>) {
    this.#parts = parts;
  }

  /** Looks up a session that is younger than `maxAgeMs`. Takes `lease`, if set, when there is no entry. Never rejects. */
  async find(session: SessionIdentity, keys: SessionKeys, maxAgeMs: number, lease?: StoreLease): Promise<LookUp<User>> {
    const [seal, ...former] = this.#parts.seals;
    for (const one of former) {
      const found = await this.#lookUp(one, { session, keys, maxAgeMs });
      if (found.kind === 'found' || found.kind === 'revoked') return found;
    }
    return this.#lookUp(seal, { session, keys, maxAgeMs }, lease);
  }

  /** Looks up a session again, only under the first seal, with which instances store sessions. */
  findAgain(session: SessionIdentity, keys: SessionKeys): Promise<LookUp<User>> {
    return this.#lookUp(this.#parts.seals[0], { session, keys, maxAgeMs: Infinity });
  }

  /** Takes a lock of this session, by a lease. Returns whether it was taken; `true` for every instance if the store is unavailable. */
  async lock(keys: SessionKeys, use: string, lease: StoreLease): Promise<boolean> {
    const { seals, access, store } = this.#parts;
    const entry = await access.try(() => store.get(`${seals[0].nameOf(keys.tokenKey)}.${use}`, lease));
    return entry?.kind !== 'leased';
  }

  /**
   * Stores an answer of the service that is `ageMs` old. `sinceMs`: a time of the store's clock before the call was sent. Returns `false` if the
   * session was revoked since.
   */
  async set(keys: SessionKeys, json: object, ageMs: number, sinceMs: number): Promise<boolean> {
    const { seals, ttlMs, access, store } = this.#parts;
    const value = seals[0].sealValue(keys, writeSharedRecord(json, keys.tokenKey, { ttlMs, ageMs, sinceMs }));
    return (await access.try(() => store.set(seals[0].nameOf(keys.tokenKey), value, ttlMs - ageMs))) ?? true;
  }

  /** Deletes a session or a lease. Returns whether there was a session. */
  async delete(tokenKey: TokenKey): Promise<boolean> {
    const { seals, access, store } = this.#parts;
    const deleted = await Promise.all(seals.map((seal) => access.insist(() => store.delete(seal.nameOf(tokenKey)))));
    return deleted.includes(true);
  }

  /** Releases a lease, so that another instance can take it. Never rejects. */
  async releaseLease({ tokenKey }: SessionKeys, id: string): Promise<void> {
    const { seals, access, store } = this.#parts;
    await access.try(() => store.releaseLease(seals[0].nameOf(tokenKey), id));
  }

  async #lookUp(seal: SessionSeal, wanted: Wanted, lease?: StoreLease): Promise<LookUp<User>> {
    const askedAtMs = performance.now();
    const entry = await this.#get(seal.nameOf(wanted.keys.tokenKey), lease);
    if (entry?.kind === 'leased') return entry;
    if (entry?.kind === 'tombstone') return { kind: 'revoked' };
    const verdict = entry && (await this.#read(entry, seal, wanted, askedAtMs));
    if (verdict) return { kind: 'found', verdict };
    return { kind: 'missing', isHolder: entry?.kind === 'none' && lease !== undefined, sinceMs: entry?.storeTimeMs };
  }

  /** Gets an entry. Releases a lease that is granted too late: other instances would wait for an answer that is never stored. */
  #get(name: string, lease?: StoreLease): Promise<StoreEntry | undefined> {
    const { access, store } = this.#parts;
    const late = ({ kind }: StoreEntry): void => {
      if (lease && kind === 'none') void access.insist(() => store.releaseLease(name, lease.id));
    };
    return access.try(() => store.get(name, lease), late);
  }

  async #read(entry: StoreEntry, seal: SessionSeal, wanted: Wanted, askedAtMs: number): Promise<Authenticated<User> | undefined> {
    const record = entry.kind === 'value' ? this.#open(entry, seal, wanted) : undefined;
    const { tokenKey } = wanted.keys;
    // Negated, so that an age of NaN is too old.
    if (!record || !(record.ageMs < Math.min(wanted.maxAgeMs, this.#parts.ttlMs))) return undefined;
    const user = readUser(record.json, this.#parts.readUser);
    if (user === undefined) return undefined;
    const { username } = record.json as { readonly username?: unknown };
    if (await this.#parts.records.isRevoked({ tokenKey, username, sinceMs: record.sinceMs })) return undefined;
    // The store computed the age after the look-up was sent, so that the session is no younger than this.
    const confirmedAtMs = askedAtMs - record.ageMs;
    if (this.#parts.isRevokedHere(user, confirmedAtMs, tokenKey)) return undefined;
    return { kind: 'authenticated', user, confirmedAtMs };
  }

  #open(
    { value, remainingMs, storeTimeMs }: Extract<StoreEntry, { readonly kind: 'value' }>,
    seal: SessionSeal,
    { session, keys }: Wanted,
  ): ReadRecord | undefined {
    const text = seal.openValue(keys, value);
    if (text === undefined) return undefined;
    const record = readSharedRecord(text, session.token, { remainingMs, storeTimeMs });
    if (record?.clockDiffers) this.#parts.clockDiffers();
    return record;
  }
}
