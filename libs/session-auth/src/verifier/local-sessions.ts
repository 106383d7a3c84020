import type { EndedSessions } from './ended-sessions.js';
import type { KnownSessions } from './lanes/known-sessions.js';
import type { SessionMemory } from './session-memory.js';
import type { SingleFlight } from './single-flight.js';
import { Revocations } from './revocations.js';

/** Where this process has sessions. */
export interface LocalSessionPlaces<User extends object | string | number | true> {
  readonly memory?: SessionMemory<User> | undefined;
  readonly ended?: EndedSessions | undefined;
  readonly known?: KnownSessions | undefined;
  /** Called when every session of a user, or every session, is revoked. */
  readonly usersEnded?: ((username: string | undefined) => void) | undefined;
  /** Calls to the service in flight. */
  readonly flights: readonly Pick<SingleFlight<unknown>, 'forget' | 'closeToJoins'>[];
}

/** How long a revocation matters without a cache: longer than any check takes. */
const UNCACHED_REVOCATION_MS = 300_000;

/** Revokes and evicts the sessions of this process, at once. Sessions are named by the digests of their tokens. */
export class LocalSessions<User extends object | string | number | true> {
  readonly #places: LocalSessionPlaces<User>;
  readonly #revocations: Revocations;
  #count = 0;

  constructor(places: LocalSessionPlaces<User>) {
    this.#places = places;
    this.#revocations = places.memory?.revocations ?? new Revocations(UNCACHED_REVOCATION_MS);
  }

  /** How many revocations and evictions there were since the start. */
  get count(): number {
    return this.#count;
  }

  /** Whether a session was cached lately. */
  knows(token: string): boolean {
    return this.#places.memory?.knows(token) === true;
  }

  /** Evicts a session. It may be cached again at once, but not by a call in flight. */
  evict(token: string): void {
    this.#count += 1;
    this.#forgetFlights(token);
    this.#revocations.addToken(token);
    this.#places.memory?.forget(token);
  }

  /** The service refuses a session that was good here before. What a store has of it does not count any more. */
  refusedHere(token: string): void {
    this.#revocations.addToken(token);
  }

  /** Evicts a session and does not cache it again for as long as it could have been cached. */
  bar(token: string): void {
    this.#count += 1;
    this.#forgetFlights(token);
    this.#places.memory?.bar(token);
    this.#places.known?.delete(token);
  }

  /** Tells the application that a session has ended. */
  tellEnded(token: string): void {
    this.#places.ended?.add(token);
  }

  /** Another instance signed the session out. It may have been signed out before, and issued again elsewhere since. */
  endedElsewhere(token: string): void {
    this.bar(token);
    this.tellEnded(token);
  }

  /** The store has a tombstone of the session, which every check of it finds. */
  foundTombstone(token: string): void {
    if (!this.#places.memory?.isBarred(token)) this.bar(token);
    this.tellEnded(token);
  }

  /** The service refused the session at another instance. */
  refusedElsewhere(token: string): void {
    this.#count += 1;
    this.#forgetFlights(token);
    this.#revocations.addToken(token);
    this.#places.memory?.drop(token);
    this.tellEnded(token);
  }

  /** A sign-in issued this token: neither a refusal of before nor one in flight counts. */
  issued(token: string): void {
    this.#forgetFlights(token);
    this.#places.memory?.pardon(token);
    this.#places.known?.add(token);
    this.#places.ended?.pardon(token);
  }

  /** Revokes every session of a user. */
  endUser(username: string): void {
    this.#count += 1;
    this.#revocations.add(username);
    this.#closeFlights();
    this.#places.usersEnded?.(username);
  }

  /** Revokes every session. */
  endAll(): void {
    this.#revocations.addAll();
    this.#evictAll();
    this.#places.usersEnded?.(undefined);
  }

  /** Messages of other instances may have been lost: any session may have been revoked. */
  messagesLost(): void {
    this.#revocations.addLoss();
    this.#evictAll();
  }

  /** Whether a session of this user, confirmed so many milliseconds ago, is revoked. */
  isRevoked(user: unknown, ageMs: number, token?: string): boolean {
    return this.#revocations.revokedWithin(user, ageMs, token);
  }

  #evictAll(): void {
    this.#count += 1;
    this.#places.memory?.clear();
    this.#closeFlights();
  }

  /** Whose sessions the flights are about is not known before their answers. */
  #closeFlights(): void {
    for (const flights of this.#places.flights) flights.closeToJoins();
  }

  #forgetFlights(token: string): void {
    for (const flights of this.#places.flights) flights.forget(token);
  }
}
