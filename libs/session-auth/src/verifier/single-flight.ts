import type { SessionKeys } from './session-key.js';

interface Flight<Value> {
  readonly token: string;
  readonly landing: Promise<Value>;
}

/** Lets concurrent checks of one session share one call. The work must not reject. */
export class SingleFlight<Value> {
  readonly #flights = new Map<string, Flight<Value>>();
  readonly #landed: (keys: SessionKeys, value: Value) => void;

  /** `landed` hears of each flight whose answer still counts: not of one whose token was forgotten on the way. */
  constructor(landed: (keys: SessionKeys, value: Value) => void) {
    this.#landed = landed;
  }

  /** Joins the flight of this session, or starts it. */
  share(keys: SessionKeys, work: () => Promise<Value>): Promise<Value> {
    const current = this.#flights.get(keys.session);
    if (current) return current.landing;
    const landing = work().then((value) => {
      if (this.#flights.get(keys.session) === flight) {
        this.#flights.delete(keys.session);
        this.#landed(keys, value);
      }
      return value;
    });
    const flight = { token: keys.token, landing };
    this.#flights.set(keys.session, flight);
    return landing;
  }

  /** Whether a check of this session would join a flight. */
  isUnderWay({ session }: SessionKeys): boolean {
    return this.#flights.has(session);
  }

  /** Lets nobody join the flights of this token any more; those on board still get its answer, and it counts for nobody else. */
  forget(token: string): void {
    for (const [key, flight] of this.#flights) if (flight.token === token) this.#flights.delete(key);
  }
}
