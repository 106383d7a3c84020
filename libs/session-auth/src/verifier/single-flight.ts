import type { SessionKey, SessionKeys, TokenKey } from '../contract/session-identity.js';

/** One call that concurrent checks of a session wait for. */
export interface Flight {
  /** Whether its answer may still be cached: it was neither evicted nor replaced. */
  isCurrent(): boolean;
}

interface Entry<Value> {
  readonly tokenKey: TokenKey;
  readonly startedAtMs: number;
  /** Counts the flights of this process. */
  readonly serial: number;
  readonly landing: Promise<Value>;
}

/** Concurrent checks of one session share one call. The work must not reject. */
export class SingleFlight<Value> {
  readonly #flights = new Map<SessionKey, Entry<Value>>();
  readonly #onSettled: (keys: SessionKeys, value: Value, tookMs: number) => void;
  #started = 0;
  /** Flights up to this one are no longer joined. */
  #closedTo = 0;

  /** `landed` receives the answer of each flight that is still current. */
  constructor(landed: (keys: SessionKeys, value: Value, tookMs: number) => void) {
    this.#onSettled = landed;
  }

  /** Joins the flight of this session if it started less than `maxAgeMs` ago, or starts one in its place. */
  share(keys: SessionKeys, work: (flight: Flight) => Promise<Value>, maxAgeMs = Infinity): Promise<Value> {
    return this.#find(keys, maxAgeMs)?.landing ?? this.#start(keys, work);
  }

  /** Whether a check of this session would join a flight that started less than `maxAgeMs` ago. */
  canJoin(keys: SessionKeys, maxAgeMs = Infinity): boolean {
    return this.#find(keys, maxAgeMs) !== undefined;
  }

  /** Evicts the flights of this token: those who wait still get the answer, and it is neither joined nor cached. */
  detach(tokenKey: TokenKey): void {
    for (const [key, flight] of this.#flights) if (flight.tokenKey === tokenKey) this.#flights.delete(key);
  }

  /** Lets no check join a flight that has started already. */
  closeToJoins(): void {
    this.#closedTo = this.#started;
  }

  #start(keys: SessionKeys, work: (flight: Flight) => Promise<Value>): Promise<Value> {
    const { sessionKey, tokenKey } = keys;
    const startedAtMs = performance.now();
    const isCurrent = (): boolean => this.#flights.get(sessionKey) === entry;
    const landing = work({ isCurrent }).then((value) => {
      if (isCurrent()) {
        this.#flights.delete(sessionKey);
        this.#onSettled(keys, value, performance.now() - startedAtMs);
      }
      return value;
    });
    const entry = { tokenKey, startedAtMs, serial: (this.#started += 1), landing };
    this.#flights.set(sessionKey, entry);
    return landing;
  }

  #find({ sessionKey }: SessionKeys, maxAgeMs: number): Entry<Value> | undefined {
    const flight = this.#flights.get(sessionKey);
    if (!flight || flight.serial <= this.#closedTo) return undefined;
    return maxAgeMs === Infinity || performance.now() - flight.startedAtMs < maxAgeMs ? flight : undefined;
  }
}
