import type { TokenKey } from '../../contract/session-identity.js';
import type { RevocationNotifier } from './revocation-notifier.js';
import type { KnownSessions } from '../lanes/known-sessions.js';
import type { SessionCache } from '../cache/session-cache.js';
import type { SingleFlight } from '../single-flight.js';
import { Revocations } from './revocations.js';

/** Where this process has sessions. */
export interface LocalRevokerParts<User extends object> {
  readonly cache?: SessionCache<User> | undefined;
  readonly notifier?: RevocationNotifier | undefined;
  readonly known?: KnownSessions | undefined;
  /** Called when every session of a user, or every session, is revoked. */
  readonly onUsersRevoked?: ((username: string | undefined) => void) | undefined;
  /** Calls to the service in flight. */
  readonly flights: readonly Pick<SingleFlight<unknown>, 'detach' | 'closeToJoins'>[];
}

/** How long a revocation matters without a cache: longer than any check takes. */
const UNCACHED_REVOCATION_MS = 300_000;

/** Revokes and evicts the sessions of this process, at once. Sessions are named by the digests of their tokens. */
export class LocalRevoker<User extends object> {
  readonly #parts: LocalRevokerParts<User>;
  readonly #revocations: Revocations;
  #count = 0;

  constructor(places: LocalRevokerParts<User>) {
    this.#parts = places;
    this.#revocations = places.cache?.revocations ?? new Revocations(UNCACHED_REVOCATION_MS);
  }

  /** How many revocations and evictions there were since the start. */
  get count(): number {
    return this.#count;
  }

  /** Whether a session was cached lately. */
  isCached(tokenKey: TokenKey): boolean {
    return this.#parts.cache?.has(tokenKey) === true;
  }

  /** Evicts a session. It may be cached again at once, but not by a call in flight. */
  evict(tokenKey: TokenKey): void {
    this.#count += 1;
    this.#detachFlights(tokenKey);
    this.#revocations.addToken(tokenKey);
    this.#parts.cache?.evict(tokenKey);
  }

  /** The service refuses a session that was good here before. What a store has of it does not count any more. */
  refusedHere(tokenKey: TokenKey): void {
    this.#revocations.addToken(tokenKey);
  }

  /** Evicts a session and does not cache it again for as long as it could have been cached. */
  revoke(tokenKey: TokenKey): void {
    this.#count += 1;
    this.#detachFlights(tokenKey);
    this.#parts.cache?.revoke(tokenKey);
    this.#parts.known?.delete(tokenKey);
  }

  /** Tells the application that a session has ended. */
  notifyRevoked(tokenKey: TokenKey): void {
    this.#parts.notifier?.notify(tokenKey);
  }

  /** Another instance signed the session out. It may have been signed out before, and issued again elsewhere since. */
  signedOutElsewhere(tokenKey: TokenKey): void {
    this.revoke(tokenKey);
    this.notifyRevoked(tokenKey);
  }

  /** The store has a tombstone of the session, which every check of it finds. */
  foundTombstone(tokenKey: TokenKey): void {
    if (!this.#parts.cache?.isRevoked(tokenKey)) this.revoke(tokenKey);
    this.notifyRevoked(tokenKey);
  }

  /** The service refused the session at another instance. */
  refusedElsewhere(tokenKey: TokenKey): void {
    this.#count += 1;
    this.#detachFlights(tokenKey);
    this.#revocations.addToken(tokenKey);
    this.#parts.cache?.evictUser(tokenKey);
    this.notifyRevoked(tokenKey);
  }

  /** A sign-in issued this token: neither a refusal of before nor one in flight counts. */
  signedIn(tokenKey: TokenKey): void {
    this.#detachFlights(tokenKey);
    this.#parts.cache?.clearTombstone(tokenKey);
    this.#parts.known?.add(tokenKey);
    this.#parts.notifier?.clear(tokenKey);
  }

  /** Revokes every session of a user. */
  revokeUser(username: string): void {
    this.#count += 1;
    this.#revocations.addUser(username);
    this.#closeFlights();
    this.#parts.onUsersRevoked?.(username);
  }

  /** Revokes every session. */
  revokeAll(): void {
    this.#revocations.addAll();
    this.#evictAll();
    this.#parts.onUsersRevoked?.(undefined);
  }

  /** Messages of other instances may have been lost: any session may have been revoked. */
  messagesLost(): void {
    this.#revocations.addMessageLoss();
    this.#evictAll();
  }

  /** Whether a session of this user, confirmed so many milliseconds ago, is revoked. */
  isRevoked(user: unknown, ageMs: number, tokenKey?: TokenKey): boolean {
    return this.#revocations.revokedWithin(user, ageMs, tokenKey);
  }

  #evictAll(): void {
    this.#count += 1;
    this.#parts.cache?.evictAll();
    this.#closeFlights();
  }

  /** Whose sessions the flights are about is not known before their answers. */
  #closeFlights(): void {
    for (const flights of this.#parts.flights) flights.closeToJoins();
  }

  #detachFlights(tokenKey: TokenKey): void {
    for (const flights of this.#parts.flights) flights.detach(tokenKey);
  }
}
