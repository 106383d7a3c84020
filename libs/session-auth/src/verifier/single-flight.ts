import type { SessionKey, SessionKeys, TokenKey } from '../contract/session-identity.js';
import { ageMs } from './clock-steps.js';

/** A call that concurrent checks of a session share. */
export interface Flight {
  /** Returns whether the answer may still be cached: the flight was neither evicted nor replaced. */
  isCurrent(): boolean;
}

/** The call that a check needs. */
export interface FlightDemand {
  /** The call must have been sent less than this many milliseconds ago. @default Infinity */
  readonly maxAgeMs?: number;
  /** Whether only an answer of the service will do, and none of the store. @default false */
  readonly byService?: boolean;
}

/**
 * How a check gets its answer: it joins a flight, starts one, or waits for one that starts when an earlier
 * one has ended.
 */
export type FlightAccess = 'joins' | 'starts' | 'waits' | 'full';

interface Entry<Value> {
  readonly startedAtMs: number;
  /** The same by the wall clock. */
  readonly startedAtWallMs: number;
  /** Sequence number within this {@link SingleFlight}, from 1. */
  readonly serial: number;
  readonly byService: boolean;
  readonly result: Promise<Value>;
}

interface Session<Value> {
  readonly tokenKey: TokenKey;
  /** The newest flight; `undefined` if it was evicted. */
  latest: Entry<Value> | undefined;
  inFlight: number;
  /** Wakes the checks that wait, the oldest first. */
  readonly waiting: (() => void)[];
}

/**
 * Maximum number of flights of one session at once: one under way, and a newer one for checks that began
 * later.
 */
const MAX_FLIGHTS = 2;
/** Maximum number of checks of one session that wait for a flight to start. */
const MAX_WAITING = 1_024;

/**
 * Lets concurrent checks of one session share one call. A check that needs a newer call than the one under
 * way starts it; while both are under way, all later ones wait until one has ended, and then share the next.
 */
export class SingleFlight<Value> {
  readonly #sessions = new Map<SessionKey, Session<Value>>();
  readonly #onSettled: (keys: SessionKeys, value: Value, startedAtMs: number) => void;
  #started = 0;
  /** Flights with a serial up to this one are no longer joined. */
  #closedTo = 0;

  /** `onSettled` is called with the answer of each flight that is current when it settles. */
  constructor(onSettled: (keys: SessionKeys, value: Value, startedAtMs: number) => void) {
    this.#onSettled = onSettled;
  }

  /**
   * Returns how {@link share} gets the answer for a check that begins now. `full`: too many checks of this
   * session wait.
   */
  accessOf({ sessionKey }: SessionKeys, demand: FlightDemand = {}): FlightAccess {
    const session = this.#sessions.get(sessionKey);
    if (!session) return 'starts';
    if (this.#canJoin(session.latest, demand, this.#started)) return 'joins';
    if (session.inFlight < MAX_FLIGHTS) return 'starts';
    return session.waiting.length < MAX_WAITING ? 'waits' : 'full';
  }

  /**
   * Joins the newest flight of this session, starts one, or waits until one may start. `work` starts a call
   * that meets the demand. `since`: number of flights that had started when the check began. Any later one
   * meets its demand.
   */
  share(
    keys: SessionKeys,
    work: (flight: Flight) => Promise<Value>,
    demand: FlightDemand = {},
    since = this.#started,
  ): Promise<Value> {
    const { tokenKey, sessionKey } = keys;
    const session = this.#sessions.get(sessionKey) ?? {
      tokenKey,
      latest: undefined,
      inFlight: 0,
      waiting: [],
    };
    if (this.#canJoin(session.latest, demand, since)) return session.latest.result;
    if (session.inFlight < MAX_FLIGHTS) return this.#start(keys, session, work, demand.byService === true);
    return new Promise((resolve) =>
      session.waiting.push(() => resolve(this.share(keys, work, demand, since))),
    );
  }

  /**
   * Evicts the flights of this token. Checks that wait still get the answer, but no other check joins, and
   * the answer is not cached.
   */
  detach(tokenKey: TokenKey): void {
    for (const session of this.#sessions.values())
      if (session.tokenKey === tokenKey) session.latest = undefined;
  }

  /** Prevents checks from joining the flights that have already started. */
  closeToJoins(): void {
    this.#closedTo = this.#started;
  }

  #canJoin(
    flight: Entry<Value> | undefined,
    { maxAgeMs = Infinity, byService = false }: FlightDemand,
    since: number,
  ): flight is Entry<Value> {
    if (!flight || flight.serial <= this.#closedTo || (byService && !flight.byService)) return false;
    return (
      maxAgeMs === Infinity ||
      flight.serial > since ||
      ageMs(flight.startedAtMs, flight.startedAtWallMs) < maxAgeMs
    );
  }

  #start(
    keys: SessionKeys,
    session: Session<Value>,
    work: (flight: Flight) => Promise<Value>,
    byService: boolean,
  ): Promise<Value> {
    const [startedAtMs, startedAtWallMs] = [performance.now(), Date.now()];
    const isCurrent = (): boolean => session.latest === entry;
    // The oldest check that waits starts the next flight, and the others join it.
    const end = (): void => {
      session.inFlight -= 1;
      for (const wake of session.waiting.splice(0)) wake();
      if (session.inFlight === 0) this.#sessions.delete(keys.sessionKey);
    };
    this.#sessions.set(keys.sessionKey, session);
    session.inFlight += 1;
    const result = work({ isCurrent }).then(
      (value) => {
        const counts = isCurrent();
        if (counts) session.latest = undefined;
        try {
          if (counts) this.#onSettled(keys, value, startedAtMs);
        } finally {
          end();
        }
        return value;
      },
      (error: unknown) => {
        if (isCurrent()) session.latest = undefined;
        end();
        throw error;
      },
    );
    const entry = { startedAtMs, startedAtWallMs, serial: (this.#started += 1), byService, result };
    session.latest = entry;
    return result;
  }
}
