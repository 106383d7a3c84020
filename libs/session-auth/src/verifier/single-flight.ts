import type { SessionKey, SessionKeys, TokenKey } from '../contract/session-identity.js';
import { ageMs } from './clock-steps.js';

export interface Flight {
  /** Whether the answer may still be cached: the flight was neither evicted nor replaced. */
  isCurrent(): boolean;
}

export interface FlightDemand {
  /** The call must have been sent less than this many milliseconds ago. @default Infinity */
  readonly maxAgeMs?: number;
  /** Whether only an answer of the service will do, and none of the store. @default false */
  readonly byService?: boolean;
}

/** How a check gets its answer. `full`: too many checks of its session wait. */
interface Shared<Value> {
  readonly access: 'joins' | 'starts' | 'waits' | 'full';
  readonly result: Promise<Value>;
}

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

/** Flights of one session at once: one under way, and a newer one for checks that began later. */
const MAX_FLIGHTS = 2;
const MAX_WAITING = 1_024;

/**
 * Lets concurrent checks of one session share one call. A check that needs a newer call than the one under
 * way starts it; while both are under way, all later ones wait until one has ended, and then share the next.
 */
export class SingleFlight<Value> {
  readonly #sessions = new Map<SessionKey, Session<Value>>();
  readonly #full: Value;
  readonly #onSettled: (keys: SessionKeys, value: Value, startedAtMs: number) => void;
  #started = 0;
  /** Flights with a serial up to this one are no longer joined. */
  #closedTo = 0;

  /**
   * `full`: the answer to a check that may not even wait. `onSettled` is called with the answer of each
   * flight that is current when it settles.
   */
  constructor(full: Value, onSettled: (keys: SessionKeys, value: Value, startedAtMs: number) => void) {
    this.#full = full;
    this.#onSettled = onSettled;
  }

  /**
   * Joins the newest flight of this session, starts one, or waits until one may start. `work` starts a call
   * that meets the demand, as any flight does that started later than the number `since`.
   */
  share(
    keys: SessionKeys,
    work: (flight: Flight) => Promise<Value>,
    demand: FlightDemand = {},
    since = this.#started,
  ): Shared<Value> {
    const { tokenKey, sessionKey } = keys;
    const session = this.#sessions.get(sessionKey) ?? {
      tokenKey,
      latest: undefined,
      inFlight: 0,
      waiting: [],
    };
    const { latest, waiting } = session;
    if (this.#canJoin(latest, demand, since)) return { access: 'joins', result: latest.result };
    if (session.inFlight < MAX_FLIGHTS)
      return { access: 'starts', result: this.#start(keys, session, work, demand.byService === true) };
    if (waiting.length >= MAX_WAITING) return { access: 'full', result: Promise.resolve(this.#full) };
    const result = new Promise<Value>((resolve) =>
      waiting.push(() => resolve(this.share(keys, work, demand, since).result)),
    );
    return { access: 'waits', result };
  }

  /** Evicts the flights of this token: no other check joins, and the answer is not cached. */
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
    this.#sessions.set(keys.sessionKey, session);
    session.inFlight += 1;
    const land = async (call: Promise<Value>): Promise<Value> => {
      try {
        const value = await call;
        if (isCurrent()) this.#onSettled(keys, value, startedAtMs);
        return value;
      } finally {
        if (isCurrent()) session.latest = undefined;
        session.inFlight -= 1;
        // The oldest check that waits starts the next flight, and the others join it.
        for (const wake of session.waiting.splice(0)) wake();
        if (session.inFlight === 0) this.#sessions.delete(keys.sessionKey);
      }
    };
    const result = land(work({ isCurrent }));
    const entry = { startedAtMs, startedAtWallMs, serial: (this.#started += 1), byService, result };
    session.latest = entry;
    return result;
  }
}
