import type { TokenKey } from '../../contract/session-identity.js';
import type { SessionStore } from '../../contract/session-store.js';
import type { Outbox } from './outbox.js';
import type { SessionSeal } from './session-seal.js';
import type { StoreAccess } from './store-access.js';

/** Assumed maximum difference between the clocks of a store's nodes. A session confirmed within this time after a revocation counts as revoked. */
const STORE_CLOCK_TOLERANCE_MS = 1_000;

/** Collaborators of {@link RevocationRecords}. */
interface RevocationRecordsParts {
  readonly store: SessionStore;
  readonly access: StoreAccess;
  readonly outbox: Outbox;
  readonly seals: readonly SessionSeal[];
  /** Milliseconds that a record is kept: longer than a session that was confirmed before it is cached. */
  readonly forMs: number;
}

/** The members of a stored session by which revocations are looked up. */
interface StoredSession {
  /** Digest of its token. */
  readonly tokenKey: TokenKey;
  readonly username: unknown;
  /** Time of the store's clock before the service was called. */
  readonly sinceMs: number;
}

/** Revocations in the store: of a session, of a user, or of all. Stored sessions are compared with their times, which are of the store's clock. */
export class RevocationRecords {
  readonly #parts: RevocationRecordsParts;

  constructor(parts: RevocationRecordsParts) {
    this.#parts = parts;
  }

  /** Revokes the stored entries of a session. */
  addSession(tokenKey: TokenKey): Promise<void> {
    return this.#add((seal) => seal.nameOfRevoked(tokenKey));
  }

  /** Revokes the stored sessions of a user. */
  addUser(username: string): Promise<void> {
    return this.#add((seal) => seal.nameOfUser(username));
  }

  /** Revokes all stored sessions. */
  addAll(): Promise<void> {
    return this.#add((seal) => seal.nameOfAll);
  }

  /**
   * Returns whether a stored session is revoked: the latest revocation of the session, of its user or of all came after the service was called
   * for it, or up to a second before, because the clocks of a store's nodes may differ. Returns `true` if the store does not answer.
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
