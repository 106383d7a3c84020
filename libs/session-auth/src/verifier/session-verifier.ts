import type { SessionIdentity } from '../contract/session-identity.js';
import type { Verdict } from '../contract/verdict.js';
import type { ProtectedCheck } from './protected-check.js';
import { sessionKey, tokenKey } from './session-key.js';
import { SingleFlight } from './single-flight.js';

/** Decides on a session: one shared flight to the service, protected. */
export class SessionVerifier<User> {
  readonly #check: ProtectedCheck<User>;
  readonly #flights = new SingleFlight<Verdict<User>>();

  constructor(check: ProtectedCheck<User>) {
    this.#check = check;
  }

  /** The verdict on a session. Never rejects. Concurrent checks of one session share one call. */
  verify(session: SessionIdentity): Verdict<User> | Promise<Verdict<User>> {
    return this.#flights.share(sessionKey(session), tokenKey(session.token), () => this.#check.run(session));
  }

  /** Asks the service now, sharing nothing. */
  ask(session: SessionIdentity): Promise<Verdict<User>> {
    return this.#check.run(session);
  }

  /** From now on nobody gets an answer that was asked for before. */
  forget(token: string): void {
    this.#flights.forget(tokenKey(token));
  }
}
