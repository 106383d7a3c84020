import type { SessionKeys } from './session-key.js';

interface Flight<Value> {
  readonly token: string;
  readonly startedAtMs: number;
  readonly landing: Promise<Value>;
}

/** Concurrent checks of one session share one call. The work must not reject. */
export class SingleFlight<Value> {
  readonly #flights = new Map<string, Flight<Value>>();
  readonly #landed: (keys: SessionKeys, value: Value, tookMs: number) => void;

  /** `landed` receives the answer of each flight that is still in the table: not of one that was evicted or replaced. */
  constructor(landed: (keys: SessionKeys, value: Value, tookMs: number) => void) {
    this.#landed = landed;
  }

  /** Joins the flight of this session if it started less than `maxAgeMs` ago, or starts one in its place. */
  share(keys: SessionKeys, work: () => Promise<Value>, maxAgeMs = Infinity): Promise<Value> {
    const current = this.#find(keys, maxAgeMs);
    if (current) return current.landing;
    const startedAtMs = performance.now();
    const landing = work().then((value) => {
      if (this.#flights.get(keys.session) === flight) {
        this.#flights.delete(keys.session);
        this.#landed(keys, value, performance.now() - startedAtMs);
      }
      return value;
    });
    const flight = { token: keys.token, startedAtMs, landing };
    this.#flights.set(keys.session, flight);
    return landing;
  }

  /** Whether a check of this session would join a flight that started less than `maxAgeMs` ago. */
  canJoin(keys: SessionKeys, maxAgeMs = Infinity): boolean {
    return this.#find(keys, maxAgeMs) !== undefined;
  }

  /** Evicts the flights of this token: those who wait still get the answer, and it is neither joined nor cached. */
  forget(token: string): void {
    for (const [key, flight] of this.#flights) if (flight.token === token) this.#flights.delete(key);
  }

  #find({ session }: SessionKeys, maxAgeMs: number): Flight<Value> | undefined {
    const flight = this.#flights.get(session);
    if (!flight || maxAgeMs === Infinity) return flight;
    return performance.now() - flight.startedAtMs < maxAgeMs ? flight : undefined;
  }
}
