import type { SessionKey } from './session-key.js';

interface Flight<Value> {
  readonly tokenKey: SessionKey;
  readonly landing: Promise<Value>;
}

/** Lets concurrent checks of one session share one call. The work must not reject. */
export class SingleFlight<Value> {
  readonly #flights = new Map<SessionKey, Flight<Value>>();

  /** Joins the flight of this key, or starts it. */
  share(key: SessionKey, tokenKey: SessionKey, work: () => Promise<Value>): Promise<Value> {
    const current = this.#flights.get(key);
    if (current) return current.landing;
    const landing = work().then((value) => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
      return value;
    });
    const flight = { tokenKey, landing };
    this.#flights.set(key, flight);
    return landing;
  }

  /** Lets nobody join the flights of this token any more; those on board still get its answer. */
  forget(tokenKey: SessionKey): void {
    for (const [key, flight] of this.#flights) if (flight.tokenKey === tokenKey) this.#flights.delete(key);
  }
}
