import { readUser } from '../client/user-details-verdict.js';
import { usernamesOf } from '../contract/record/usernames.js';
import type { SessionIdentity, SessionKeys, TokenKey } from '../contract/session-identity.js';
import type { SessionStore, StoreEntry, StoreLease } from '../contract/session-store.js';
import type { Authenticated } from '../contract/outcome.js';
import { HostClock } from './host-clock.js';
import type { SessionSeal } from './session-seal.js';
import { readSharedRecord, writeSharedRecord, type ReadRecord } from './shared-record.js';
import type { StoreAccess } from './store-access.js';

/** Collaborators of a {@link SharedCache}. */
interface SharedCacheParts<User> {
  readonly store: SessionStore;
  readonly access: StoreAccess;
  /** The first seals new values; all of them open values. */
  readonly seals: readonly [SessionSeal, ...SessionSeal[]];
  readonly readUser: (json: object) => User | undefined;
  /** Lifetime of a session, in milliseconds. */
  readonly ttlMs: number;
  /**
   * Returns whether an answer, confirmed at a time of the monotonic clock, is revoked according to this
   * instance.
   */
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

type StoredValue = Extract<StoreEntry, { readonly kind: 'value' }>;

/** A session to look up. */
interface Wanted {
  readonly session: SessionIdentity;
  readonly keys: SessionKeys;
  readonly maxAgeMs: number;
  /** Secrets under whose names it may be stored. A lease is taken under the first. */
  readonly seals: readonly [SessionSeal, ...SessionSeal[]];
  readonly lease?: StoreLease | undefined;
}

/**
 * Assumed maximum difference between the clocks of a store's nodes. A session confirmed within this time
 * after a revocation counts as revoked.
 */
const STORE_CLOCK_TOLERANCE_MS = 1_000;
const UNANSWERED = { kind: 'missing', isHolder: false, sinceMs: undefined } as const;

/**
 * The session cache in a store. Values are sealed, and keys reveal nothing. An unusable entry counts as
 * missing.
 */
export class SharedCache<User> {
  readonly #parts: SharedCacheParts<User>;
  readonly #hostClock = new HostClock();

  constructor(parts: SharedCacheParts<User>) {
    this.#parts = parts;
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
    return this.#lookUp({ session, keys, maxAgeMs, seals: this.#parts.seals, lease });
  }

  /** Looks up a session again, only under the first seal, with which instances store sessions. */
  findAgain(session: SessionIdentity, keys: SessionKeys): Promise<LookUp<User>> {
    return this.#lookUp({ session, keys, maxAgeMs: Infinity, seals: [this.#parts.seals[0]] });
  }

  /**
   * Takes a lock of this session, by a lease. Returns whether it was taken; `true` for every instance if the
   * store is unavailable.
   */
  async lock(keys: SessionKeys, use: string, lease: StoreLease): Promise<boolean> {
    const { seals, access, store } = this.#parts;
    const entry = await access.try(() => store.get(`${seals[0].nameOf(keys.tokenKey)}.${use}`, lease));
    return entry?.kind !== 'leased';
  }

  /**
   * Stores an answer of the service that is `ageMs` old. `sinceMs`: a time of the store's clock before the
   * call was sent. Returns `false` if the session was revoked since.
   */
  async set(keys: SessionKeys, json: object, ageMs: number, sinceMs: number): Promise<boolean> {
    const { seals, ttlMs, access, store } = this.#parts;
    const value = seals[0].sealValue(
      keys,
      writeSharedRecord(json, keys.tokenKey, { ttlMs, ageMs, sinceMs, hostMs: this.#hostClock.now() }),
    );
    return (await access.try(() => store.set(seals[0].nameOf(keys.tokenKey), value, ttlMs - ageMs))) ?? true;
  }

  /** Deletes a session or a lease. Returns whether there was a session. */
  async delete(tokenKey: TokenKey): Promise<boolean> {
    const { seals, access, store } = this.#parts;
    const deleted = await Promise.all(
      seals.map((seal) => access.insist(() => store.delete(seal.nameOf(tokenKey)))),
    );
    return deleted.includes(true);
  }

  /** Releases a lease, so that another instance can take it. Never rejects. */
  async releaseLease({ tokenKey }: Pick<SessionKeys, 'tokenKey'>, id: string): Promise<void> {
    const { seals, access, store } = this.#parts;
    await access.insist(() => store.releaseLease(seals[0].nameOf(tokenKey), id));
  }

  /**
   * All commands of a look-up have one time limit. Releases a lease that is granted too late: other instances
   * would wait for an answer that is never stored.
   */
  async #lookUp(wanted: Wanted): Promise<LookUp<User>> {
    const late = (found: LookUp<User>): void => {
      if (found.kind === 'missing' && found.isHolder && wanted.lease)
        void this.releaseLease(wanted.keys, wanted.lease.id);
    };
    return (await this.#parts.access.try(() => this.#get(wanted), late)) ?? UNANSWERED;
  }

  async #get(wanted: Wanted): Promise<LookUp<User>> {
    const { store } = this.#parts;
    const { seals, keys, lease } = wanted;
    const askedAtMs = performance.now();
    const get = (seal: SessionSeal, index: number): Promise<StoreEntry> =>
      store.get(seal.nameOf(keys.tokenKey), index === 0 ? lease : undefined);
    const answers = seals.map(get);
    // A tombstone counts at once: the other answers may never arrive.
    const entries = await Promise.race([Promise.all(answers), tombstoneAmong(answers)]);
    const first = entries?.[0];
    if (!first || entries.some(({ kind }) => kind === 'tombstone')) {
      if (lease) void this.releaseLease(keys, lease.id);
      return { kind: 'revoked' };
    }
    const isHolder = lease !== undefined && first.kind === 'none';
    const found = await this.#sessionIn(entries, wanted, askedAtMs);
    if (found && isHolder) void this.releaseLease(keys, lease.id);
    if (found) return found;
    return first.kind === 'leased' ? first : { kind: 'missing', isHolder, sinceMs: first.storeTimeMs };
  }

  async #sessionIn(
    entries: readonly StoreEntry[],
    wanted: Wanted,
    askedAtMs: number,
  ): Promise<LookUp<User> | undefined> {
    for (const [index, seal] of wanted.seals.entries()) {
      const entry = entries[index];
      const verdict =
        entry?.kind === 'value' ? await this.#verdictOf(entry, seal, wanted, askedAtMs) : undefined;
      if (verdict) return { kind: 'found', verdict };
    }
    return undefined;
  }

  async #verdictOf(
    entry: StoredValue,
    seal: SessionSeal,
    wanted: Wanted,
    askedAtMs: number,
  ): Promise<Authenticated<User> | undefined> {
    const { ttlMs } = this.#parts;
    const { tokenKey } = wanted.keys;
    const record = this.#open(entry, seal, wanted);
    // Negated, so that an age of NaN is too old.
    if (!record || !(record.ageMs < Math.min(wanted.maxAgeMs, ttlMs, record.ttlMs))) return undefined;
    const user = readUser(record.json, this.#parts.readUser);
    if (user === undefined || (await this.#isRevoked(user as object, tokenKey, record.sinceMs)))
      return undefined;
    // The store computed the age after the look-up was sent, so that the session is no younger than this.
    const confirmedAtMs = askedAtMs - record.ageMs;
    if (this.#parts.isRevokedHere(user, confirmedAtMs, tokenKey)) return undefined;
    // Another instance may have a shorter lifetime than this one.
    return {
      kind: 'authenticated',
      user,
      confirmedAtMs,
      ...(record.ttlMs < ttlMs && { cacheForMs: record.ttlMs }),
    };
  }

  /**
   * Returns whether a stored session is revoked: the latest revocation of the session, of its user or of all
   * came after the service was called for it, or up to a second before, because the clocks of a store's nodes
   * may differ.
   */
  async #isRevoked(user: object, tokenKey: TokenKey, sinceMs: number): Promise<boolean> {
    const { seals, store } = this.#parts;
    const names = seals.flatMap((seal) => [
      seal.nameOfAll,
      seal.nameOfRevoked(tokenKey),
      ...usernamesOf(user).map((name) => seal.nameOfUser(name)),
    ]);
    const revokedAtMs = await store.getRevocations(names);
    return revokedAtMs.some((atMs) => atMs !== undefined && !(sinceMs > atMs + STORE_CLOCK_TOLERANCE_MS));
  }

  #open(
    { value, remainingMs, storeTimeMs }: StoredValue,
    seal: SessionSeal,
    { session, keys }: Wanted,
  ): ReadRecord | undefined {
    const text = seal.openValue(keys, value);
    if (text === undefined) return undefined;
    const record = readSharedRecord(text, session.token, {
      remainingMs,
      storeTimeMs,
      hostMs: this.#hostClock.now(),
    });
    if (record?.clockDiffers) this.#parts.clockDiffers();
    return record;
  }
}

/** Resolves if one of the answers is a tombstone, as soon as it arrives. */
function tombstoneAmong(answers: readonly Promise<StoreEntry>[]): Promise<undefined> {
  return new Promise((resolve) => {
    for (const answer of answers)
      answer.then(
        ({ kind }) => kind === 'tombstone' && resolve(undefined),
        () => undefined,
      );
  });
}
