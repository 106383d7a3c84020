import type { SessionKey, SessionKeys, TokenKey } from '../contract/session-identity.js';

/** A call that concurrent checks of a session share. */
export interface Flight {
  /** Returns whether the answer may still be cached: the flight was neither evicted nor replaced. */
  isCurrent(): boolean;
}

interface Entry<Value> {
  readonly tokenKey: TokenKey;
  readonly startedAtMs: number;
  /** The same by the wall clock. */
  readonly startedAtWallMs: number;
  /** Sequence number within this {@link SingleFlight}, from 1. */
  readonly serial: number;
  readonly result: Promise<Value>;
}

/** Lets concurrent checks of one session share one call. The work must not reject. */
export class SingleFlight<Value> {
  readonly #flights = new Map<SessionKey, Entry<Value>>();
  readonly #onSettled: (keys: SessionKeys, value: Value, startedAtMs: number) => void;
  #started = 0;
  /** Flights with a serial up to this one are no longer joined. */
  #closedTo = 0;

  /** `onSettled` is called with the answer of each flight that is current when it settles. */
  constructor(onSettled: (keys: SessionKeys, value: Value, startedAtMs: number) => void) {
    this.#onSettled = onSettled;
  }

  /** Joins the flight of this session if it started less than `maxAgeMs` ago, or starts one in its place. */
  share(keys: SessionKeys, work: (flight: Flight) => Promise<Value>, maxAgeMs = Infinity): Promise<Value> {
    return this.#find(keys, maxAgeMs)?.result ?? this.#start(keys, work);
  }

  /** Returns whether {@link share} would join a flight: one of this session that started less than `maxAgeMs` ago. */
  canJoin(keys: SessionKeys, maxAgeMs = Infinity): boolean {
    return this.#find(keys, maxAgeMs) !== undefined;
  }

  /** Evicts the flights of this token. Checks that wait still get the answer, but no other check joins, and the answer is not cached. */
  detach(tokenKey: TokenKey): void {
    for (const [key, flight] of this.#flights) if (flight.tokenKey === tokenKey) this.#flights.delete(key);
  }

  /** Prevents checks from joining the flights that have already started. */
  closeToJoins(): void {
    this.#closedTo = this.#started;
  }

  #start(keys: SessionKeys, work: (flight: Flight) => Promise<Value>): Promise<Value> {
    const { sessionKey, tokenKey } = keys;
    const [startedAtMs, startedAtWallMs] = [performance.now(), Date.now()];
    const isCurrent = (): boolean => this.#flights.get(sessionKey) === entry;
    const result = work({ isCurrent }).then((value) => {
      if (isCurrent()) {
        this.#flights.delete(sessionKey);
        this.#onSettled(keys, value, startedAtMs);
      }
      return value;
    });
    const entry = { tokenKey, startedAtMs, startedAtWallMs, serial: (this.#started += 1), result };
    this.#flights.set(sessionKey, entry);
    return result;
  }

  #find({ sessionKey }: SessionKeys, maxAgeMs: number): Entry<Value> | undefined {
    const flight = this.#flights.get(sessionKey);
    if (!flight || flight.serial <= this.#closedTo) return undefined;
    return maxAgeMs === Infinity || isYounger(flight, maxAgeMs) ? flight : undefined;
  }
}

/** By both clocks, and with no age below zero. */
function isYounger({ startedAtMs, startedAtWallMs }: Entry<unknown>, maxAgeMs: number): boolean {
  const byWallMs = Date.now() - startedAtWallMs;
  return byWallMs >= 0 && Math.max(byWallMs, performance.now() - startedAtMs) < maxAgeMs;
}
