import type { SessionKey, SessionKeys, TokenKey } from '../contract/session-identity.js';
import { ageMs } from './clock-steps.js';

export interface Flight {
  readonly startedAtMs: number;
  /** Whether the answer may be cached: the flight is under way, and was neither evicted nor replaced. */
  readonly isCurrent: boolean;
}

export interface FlightDemand {
  /** The call must have been sent less than this many milliseconds ago. @default Infinity */
  readonly maxAgeMs?: number;
  /** Whether only an answer of the service will do, and none of the store. @default false */
  readonly byService?: boolean;
}

interface Shared<Value> {
  readonly access: 'joins' | 'starts' | 'waits' | 'full';
  readonly result: Promise<Value>;
}

interface Started extends Flight {
  /** {@link startedAtMs} by the wall clock. */
  readonly startedAtWallMs: number;
  /** Sequence number within this {@link SingleFlight}, from 1. */
  readonly serial: number;
  readonly byService: boolean;
  isCurrent: boolean;
}

interface Session<Value> {
  readonly tokenKey: TokenKey;
  latest: { readonly flight: Started; readonly result: Promise<Value> } | undefined;
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
  readonly #landed: ((keys: SessionKeys, value: Value, flight: Flight) => void) | undefined;
  #started = 0;
  /** Flights with a serial up to this one are no longer joined. */
  #closedTo = 0;

  /**
   * `full`: the answer to a check that may not even wait. `landed`: called with each answer, before the checks
   * that share it get it.
   */
  constructor(full: Value, landed?: (keys: SessionKeys, value: Value, flight: Flight) => void) {
    this.#full = full;
    this.#landed = landed;
  }

  /**
   * Joins the newest flight of this session, starts one, or waits until one may start. `work` makes a call
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
    if (latest && this.#canJoin(latest.flight, demand, since))
      return { access: 'joins', result: latest.result };
    if (session.inFlight < MAX_FLIGHTS) {
      if (latest) latest.flight.isCurrent = false;
      const flight = {
        startedAtMs: performance.now(),
        startedAtWallMs: Date.now(),
        serial: (this.#started += 1),
        byService: demand.byService === true,
        isCurrent: true,
      };
      this.#sessions.set(sessionKey, session);
      const result = this.#fly(keys, session, flight, work);
      session.latest = { flight, result };
      return { access: 'starts', result };
    }
    if (waiting.length >= MAX_WAITING) return { access: 'full', result: Promise.resolve(this.#full) };
    const result = new Promise<Value>((resolve) =>
      waiting.push(() => resolve(this.share(keys, work, demand, since).result)),
    );
    return { access: 'waits', result };
  }

  /** Evicts the flights of this token: no other check joins, and the answer is not cached. */
  detach(tokenKey: TokenKey): void {
    for (const { tokenKey: other, latest } of this.#sessions.values())
      if (other === tokenKey && latest) latest.flight.isCurrent = false;
  }

  closeToJoins(): void {
    this.#closedTo = this.#started;
  }

  #canJoin(
    { isCurrent, serial, byService: isByService, startedAtMs, startedAtWallMs }: Started,
    { maxAgeMs = Infinity, byService = false }: FlightDemand,
    since: number,
  ): boolean {
    if (!isCurrent || serial <= this.#closedTo || (byService && !isByService)) return false;
    return maxAgeMs === Infinity || serial > since || ageMs(startedAtMs, startedAtWallMs) < maxAgeMs;
  }

  async #fly(
    keys: SessionKeys,
    session: Session<Value>,
    flight: Started,
    work: (flight: Flight) => Promise<Value>,
  ): Promise<Value> {
    session.inFlight += 1;
    try {
      const value = await work(flight);
      this.#landed?.(keys, value, flight);
      return value;
    } finally {
      flight.isCurrent = false;
      session.inFlight -= 1;
      // V8 keeps what a Map that changes so often contained, until a full collection of garbage.
      if (session.latest?.flight === flight) session.latest = undefined;
      // The oldest check that waits starts the next flight, and the others join it.
      if (session.waiting.length > 0) for (const wake of session.waiting.splice(0)) wake();
      if (session.inFlight === 0) this.#sessions.delete(keys.sessionKey);
    }
  }
}
