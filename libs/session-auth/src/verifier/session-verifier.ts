import type { SessionIdentity } from '../contract/session-identity.js';
import type { Verdict } from '../contract/verdict.js';
import type { ProtectedCheck } from './protected-check.js';
import { sessionKeys, tokenKey, type SessionKeys } from './session-key.js';
import type { SessionMemory } from './session-memory.js';
import { SingleFlight } from './single-flight.js';
import type { Suspicion } from './suspicion.js';

/** Decides on a session: remembered, or else one shared flight to the service, protected. */
export class SessionVerifier<User extends object | string | number | true> {
  readonly #check: ProtectedCheck<User>;
  readonly #memory: SessionMemory<User> | undefined;
  readonly #suspicion: Suspicion | undefined;
  readonly #flights = new SingleFlight<Verdict<User>>((keys, verdict) => {
    this.#memory?.learn(keys, verdict);
    this.#suspicion?.observe(keys.token, verdict);
  });

  constructor(check: ProtectedCheck<User>, memory?: SessionMemory<User>, suspicion?: Suspicion) {
    this.#check = check;
    this.#memory = memory;
    this.#suspicion = suspicion;
  }

  /**
   * The verdict on a session, at once if it is remembered and no older than `maxAgeMs`. Never rejects.
   * Concurrent checks of one session share one call.
   */
  verify(session: SessionIdentity, maxAgeMs = Infinity): Verdict<User> | Promise<Verdict<User>> {
    const keys = sessionKeys(session);
    const remembered = this.#memory?.find(keys, maxAgeMs);
    if (!remembered) return this.#ask(session, keys, maxAgeMs);
    if (remembered.kind === 'accepted' && this.#memory?.claimRefresh(keys)) void this.#fly(session, keys);
    return remembered;
  }

  /** Asks the service now, sharing nothing. A refusal ends what is remembered. */
  async ask(session: SessionIdentity): Promise<Verdict<User>> {
    const verdict = await this.#check.run(session);
    if (verdict.kind === 'rejected' || verdict.kind === 'denied') this.#memory?.forget(tokenKey(session.token));
    return verdict;
  }

  /** Drops what is remembered of a token. An answer that is on its way is remembered by nobody. */
  forget(token: string): void {
    const key = tokenKey(token);
    this.#flights.forget(key);
    this.#memory?.forget(key);
  }

  /** The same for a token that is signed out, which is not remembered again for as long as it could have been. */
  signedOut(token: string): void {
    const key = tokenKey(token);
    this.#flights.forget(key);
    this.#memory?.bar(key);
  }

  /** A sign-in gave this token: neither a refusal of before, nor one on its way, counts. */
  signedIn(token: string): void {
    const key = tokenKey(token);
    this.#flights.forget(key);
    this.#memory?.pardon(key);
  }

  async #ask(session: SessionIdentity, keys: SessionKeys, maxAgeMs: number): Promise<Verdict<User>> {
    const verdict = await this.#fly(session, keys);
    if (verdict.kind !== 'unavailable' || maxAgeMs !== Infinity) return verdict;
    const stale = this.#memory?.findStale(keys);
    return stale !== undefined ? { kind: 'accepted', user: stale, stale: true } : verdict;
  }

  #fly(session: SessionIdentity, keys: SessionKeys): Promise<Verdict<User>> {
    return this.#flights.share(keys, () => this.#check.run(session));
  }
}
