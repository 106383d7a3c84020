import type { TokenKey } from '../contract/session-identity.js';
import type { Revocation } from './revocation.js';
import type { RevocationNotifier } from './revocation-notifier.js';
import type { KnownSessions } from './known-sessions.js';
import type { SessionCache } from './session-cache.js';
import { Revocations } from './revocations.js';

/** The parts of this process that hold or observe sessions. */
export interface LocalRevokerParts<User extends object> {
  readonly cache?: SessionCache<User> | undefined;
  readonly notifier?: RevocationNotifier | undefined;
  readonly known?: KnownSessions | undefined;
  /** Called when every session of a user, or every session, is revoked. */
  readonly onUsersRevoked?: ((username: string | undefined) => void) | undefined;
  readonly flights: Flights;
}

/** Calls to the service in flight. */
interface Flights {
  /** Evicts the flights of a token: no other check joins them, and their answers are not cached. */
  detach(tokenKey: TokenKey): void;
  /** Prevents checks from joining the flights that have already started. */
  closeToJoins(): void;
}

/** Milliseconds that a revocation is kept without a cache: longer than any check takes. */
const UNCACHED_REVOCATION_MS = 300_000;

/** Revokes and evicts sessions in this process, synchronously. Sessions are identified by token digest. */
export class LocalRevoker<User extends object> {
  readonly #parts: LocalRevokerParts<User>;
  readonly #revocations: Revocations;
  #count = 0;

  constructor(parts: LocalRevokerParts<User>) {
    this.#parts = parts;
    this.#revocations = parts.cache?.revocations ?? new Revocations(UNCACHED_REVOCATION_MS);
  }

  /** Number of revocations and evictions since startup. */
  get count(): number {
    return this.#count;
  }

  /** Returns whether the session cache has an entry of a session, expired or not. */
  isCached(tokenKey: TokenKey): boolean {
    return this.#parts.cache?.has(tokenKey) === true;
  }

  /**
   * Applies a revocation of this process, or of another instance. A session that is not signed out may be
   * cached again, but not by a call in flight.
   */
  apply(revocation: Revocation): void {
    switch (revocation.kind) {
      case 'signedOut':
        // Also if it has a tombstone: the token may have been issued again elsewhere since.
        this.revoke(revocation.tokenKey);
        // Each sign-out arrives once. Since it began, its tombstone may have been found, and the session
        // admitted again.
        this.#parts.notifier?.emit(revocation.tokenKey);
        break;
      case 'refused':
        this.#forgetToken(revocation.tokenKey);
        this.#parts.cache?.evictSession(revocation.tokenKey);
        this.#notify(revocation.tokenKey);
        break;
      case 'evicted':
        this.#forgetToken(revocation.tokenKey);
        this.#parts.cache?.evict(revocation.tokenKey);
        break;
      case 'userRevoked':
        this.#revokeUser(revocation.username);
        break;
      case 'allRevoked':
        this.#revocations.addAll();
        this.#evictAll();
        this.#parts.onUsersRevoked?.(undefined);
    }
  }

  /**
   * Evicts a session that is signed out, and prevents it from being cached again for as long as it could have
   * been cached. Emits nothing.
   */
  revoke(tokenKey: TokenKey): void {
    // A tombstone alone is lost when more sessions are signed out than the cache has entries.
    this.#forgetToken(tokenKey);
    this.#parts.cache?.revoke(tokenKey);
    this.#parts.known?.delete(tokenKey);
  }

  /**
   * Handles a tombstone in the store. Revokes only once, because every check of the session finds the
   * tombstone.
   */
  foundTombstone(tokenKey: TokenKey): void {
    if (this.#parts.cache?.isRevoked(tokenKey)) this.#detachFlights(tokenKey);
    else this.revoke(tokenKey);
    this.#notify(tokenKey);
  }

  /** Handles a sign-in that issued this token: earlier refusals, and calls in flight, no longer count. */
  signedIn(tokenKey: TokenKey, user?: unknown): void {
    // The store may still have an answer from before the sign-out.
    if (this.#parts.cache?.isRevoked(tokenKey)) this.#forgetToken(tokenKey);
    this.#detachFlights(tokenKey);
    this.#parts.cache?.clearTombstone(tokenKey);
    this.#parts.known?.add(tokenKey, user);
  }

  /** Handles a possible loss of messages: evicts every session, because any may have been revoked. */
  messagesLost(): void {
    this.#revocations.addMessageLoss();
    this.#evictAll();
  }

  /**
   * Returns whether an answer about a session of this user, confirmed at a time of the monotonic clock, is
   * revoked.
   */
  isRevoked(user: unknown, confirmedAtMs: number, tokenKey?: TokenKey): boolean {
    return this.#revocations.revokes(user, confirmedAtMs, tokenKey);
  }

  #revokeUser(username: string): void {
    this.#count += 1;
    if (!this.#revocations.addUser(username)) this.#parts.cache?.evictAll();
    this.#closeFlights();
    this.#parts.onUsersRevoked?.(username);
  }

  #notify(tokenKey: TokenKey): void {
    this.#parts.notifier?.emitOnce(tokenKey);
  }

  /** Earlier answers about a session no longer count, neither those in flight nor those of the store. */
  #forgetToken(tokenKey: TokenKey): void {
    this.#count += 1;
    this.#detachFlights(tokenKey);
    if (!this.#revocations.addToken(tokenKey)) this.#evictAll();
  }

  #evictAll(): void {
    this.#count += 1;
    this.#parts.cache?.evictAll();
    this.#closeFlights();
  }

  /** All flights: the user of a flight is unknown until its answer arrives. */
  #closeFlights(): void {
    this.#parts.flights.closeToJoins();
  }

  #detachFlights(tokenKey: TokenKey): void {
    this.#parts.flights.detach(tokenKey);
  }
}
