import type { TokenKey } from '../../contract/session-identity.js';
import type { SessionStore } from '../../contract/session-store.js';
import type { Outbox } from './outbox.js';
import type { SessionSeal } from './session-seal.js';
import type { StoreAccess } from './store-access.js';

/** The clocks of two nodes of a store may differ this much. A value that was confirmed so soon after a revocation counts as revoked. */
const STORE_CLOCK_TOLERANCE_MS = 1_000;

/** What {@link RevocationRecords} work with. */
export interface RevocationRecordsParts {
  readonly store: SessionStore;
  readonly access: StoreAccess;
  readonly outbox: Outbox;
  readonly seals: readonly SessionSeal[];
  /** Milliseconds that a record is kept: longer than a session that was confirmed before it. */
  readonly forMs: number;
}

/** A session in a store, as far as revocations concern it. */
export interface StoredSession {
  /** Digest of its token. */
  readonly tokenKey: TokenKey;
  readonly username: unknown;
  /** The store's clock at a moment before the service was asked. */
  readonly sinceMs: number;
}

/** Revocations of a session, of a user, or of all, in the store: each with its time on the store's own clock, to which stored values are held. */
export class RevocationRecords {
  readonly #parts: RevocationRecordsParts;

  constructor(parts: RevocationRecordsParts) {
    this.#parts = parts;
  }

  /** Revokes what is stored of a session. */
  addSession(tokenKey: TokenKey): Promise<void> {
    return this.#add((seal) => seal.nameOfRevoked(tokenKey));
  }

  /** Revokes what is stored of a user. */
  addUser(username: string): Promise<void> {
    return this.#add((seal) => seal.nameOfUser(username));
  }

  /** Revokes all that is stored. */
  addAll(): Promise<void> {
    return this.#add((seal) => seal.nameOfAll);
  }

  /**
   * Returns whether a stored session is revoked: whether the latest revocation of the session, of its user or of all came after the service
   * was asked about it, or up to a second before, because the clocks of a store's nodes may differ. `true` if the store gives no answer.
   */
  async isRevoked({ tokenKey, username, sinceMs }: StoredSession): Promise<boolean> {
    const { seals, access, store } = this.#parts;
    const ofUser = typeof username === 'string' ? seals.map((seal) => seal.nameOfUser(username)) : [];
    const names = [...seals.flatMap((seal) => [seal.nameOfAll, seal.nameOfRevoked(tokenKey)]), ...ofUser];
    const revokedAtMs = await access.try(() => store.getRevocations(names));
    if (revokedAtMs === undefined) return true;
    return revokedAtMs.some((atMs) => atMs !== undefined && !(sinceMs > atMs + STORE_CLOCK_TOLERANCE_MS));
  }

  async #add(nameWith: (seal: SessionSeal) => string): Promise<void> {
    const { seals, outbox, store, forMs } = this.#parts;
    const deliver = (name: string): Promise<void> => outbox.deliver({ name, forMs, send: (leftMs) => store.setRevocation(name, leftMs) });
    await Promise.all(seals.map((seal) => deliver(nameWith(seal))));
  }
}
