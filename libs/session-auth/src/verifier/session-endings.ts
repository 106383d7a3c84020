import type { EndedSessions } from './ended-sessions.js';
import type { KnownSessions } from './lanes/known-sessions.js';
import { tokenKey } from './session-key.js';
import type { SessionMemory } from './session-memory.js';
import type { SharedTier } from './shared/shared-tier.js';

/** Where a session may be, when it ends. */
export interface SessionPlaces<User extends object | string | number | true> {
  readonly memory?: SessionMemory<User> | undefined;
  readonly shared?: SharedTier<User> | undefined;
  readonly ended?: EndedSessions | undefined;
  readonly known?: KnownSessions | undefined;
  /** Answers that are on their way. */
  readonly flights: readonly { forget(token: string): void }[];
}

/** Called for each refusal by the service, with the digest of the token. */
export type RefusalListener = (tokenKey: string, kind: 'rejected' | 'denied') => void;

/** Ends sessions wherever they are: here at once, and on the other instances as soon as they hear of it. */
export class SessionEndings<User extends object | string | number | true> {
  readonly #places: SessionPlaces<User>;
  readonly #refusalListeners = new Set<RefusalListener>();
  #count = 0;

  constructor(places: SessionPlaces<User>) {
    this.#places = places;
  }

  /** How many sessions were revoked or evicted on purpose since the start. A check made at a lower count may no longer hold. */
  get count(): number {
    return this.#count;
  }

  /** Drops what is remembered of a token, here at once and then on all instances. An answer that is on its way is remembered by nobody. */
  async forget(token: string): Promise<void> {
    const key = tokenKey(token);
    this.#drop(key);
    await this.#places.shared?.forget(key);
  }

  /** Drops a token that is about to be signed out, here at once; resolves when the other instances can know. */
  async signingOut(token: string): Promise<void> {
    const key = tokenKey(token);
    this.#bar(key);
    await this.#places.shared?.end(key);
  }

  /** The same when it is signed out. It is not remembered again for as long as it could have been. */
  signedOut(token: string): void {
    const key = tokenKey(token);
    this.#bar(key);
    this.#places.ended?.add(key);
    void this.#places.shared?.announce({ kind: 'ended', token: key });
  }

  /** A sign-in gave this token: neither a refusal of before, nor one on its way, counts. */
  signedIn(token: string): void {
    const key = tokenKey(token);
    this.#forgetFlights(key);
    this.#places.memory?.pardon(key);
    this.#places.known?.add(key);
    this.#places.ended?.pardon(key);
    void this.#places.shared?.pardon(key);
  }

  /** Hears of sessions that end on other instances, from now on. */
  listen(): void {
    this.#places.shared?.listen({
      ended: (token) => this.#endedElsewhere(token),
      refused: (token) => {
        this.#count += 1;
        this.#forgetFlights(token);
        this.#places.memory?.drop(token);
        this.#places.ended?.add(token);
      },
      forgotten: (token) => this.#drop(token),
      lost: () => this.#places.memory?.clear(),
    });
  }

  /** Hears of nothing any more. */
  async close(): Promise<void> {
    await this.#places.shared?.close();
  }

  /** Calls back for each session that the service refuses from now on, also with the cache off. @returns what ends that */
  onRefusal(listener: RefusalListener): () => void {
    this.#refusalListeners.add(listener);
    return () => void this.#refusalListeners.delete(listener);
  }

  /** The service refuses a session. If that was good before, it is news to the other instances. */
  refused(token: string, kind: 'rejected' | 'denied'): void {
    for (const listener of this.#refusalListeners) listener(token, kind);
    const wasGoodHere = this.#places.memory?.knows(token) === true;
    if (wasGoodHere && kind === 'rejected') this.#places.ended?.add(token);
    void this.#places.shared?.refused({ kind: kind === 'rejected' ? 'refused' : 'forgotten', token }, wasGoodHere);
  }

  #endedElsewhere(token: string): void {
    if (!this.#places.memory?.isBarred(token)) this.#bar(token);
    this.#places.ended?.add(token);
  }

  #bar(token: string): void {
    this.#count += 1;
    this.#forgetFlights(token);
    this.#places.memory?.bar(token);
    this.#places.known?.delete(token);
  }

  #drop(token: string): void {
    this.#count += 1;
    this.#forgetFlights(token);
    this.#places.memory?.forget(token);
  }

  #forgetFlights(token: string): void {
    for (const flights of this.#places.flights) flights.forget(token);
  }
}
