import { setTimeout as delay } from 'node:timers/promises';
import { type Deadline, type DeadlineEnd, type Deadlines, inTime } from '../client/deadline.js';
import type { LaneName } from '../contract/diagnostics.js';
import type { SessionIdentity, SessionKeys, TokenKey } from '../contract/session-identity.js';
import { unavailable, type Unavailable, type UnavailableReason, type Verdict } from '../contract/outcome.js';
import { type BreakerSettings, type BreakerState, LaneBreaker } from './circuit-breaker.js';
import { type CallerKey, count, KnownSessions } from './known-sessions.js';
import { StrangersLimit } from './strangers-limit.js';

/** Limits of the attempts of one check. */
export interface RetrySettings {
  /** Maximum number of attempts, including the first. 1 to 10. @default 2 */
  readonly maxAttempts: number;
}

export interface LaneSettings extends RetrySettings {
  /** Milliseconds for the whole check: queue, attempts and bodies. */
  readonly timeoutMs: number;
  readonly maxInFlight: number;
  readonly maxQueued: number;
  readonly breaker?: BreakerSettings | undefined;
}

export type CallService<User> = (session: SessionIdentity, deadline: Deadline) => Promise<Verdict<User>>;

export type BreakerChanged = (lane: LaneName, state: BreakerState) => void;

interface LanesParts {
  readonly breakerChanged?: BreakerChanged | undefined;
  readonly known?: KnownSessions;
}

/** Calls of one token, in flight or waiting, with all IVs with which it was never authenticated. */
const MAX_CALLS_OF_TOKEN = 8;
const BUSY_RETRY_AFTER_SECONDS = 1;
/** With a single place, every fourth turn goes to strangers while known sessions wait too. */
const STRANGERS_TURN = 4;
/** Failures that another attempt may avoid. Not `timeout`, which has used up the time. */
const TRANSIENT: ReadonlySet<UnavailableReason> = new Set(['unreachable', 'server_error']);

/**
 * Calls the session service, and protects the application from a failing service, and known sessions from a
 * flood of strangers. Each lane has its share of the calls in flight, and of the queue, and may use what the
 * other leaves idle. A lane below its share gets the next free place; if the queue is full, its check
 * replaces the oldest waiter of the other lane.
 */
export class Lanes<User> {
  readonly #callService: CallService<User>;
  readonly #deadlines: Deadlines;
  readonly settings: LaneSettings;
  readonly lanes: Readonly<Record<LaneName, Lane>>;
  readonly known: KnownSessions;
  readonly limit: StrangersLimit;
  /** The number of strangers' calls, in flight or waiting, of each token. */
  readonly #calls = new Map<TokenKey, number>();
  #turn = 0;

  constructor(
    callService: CallService<User>,
    deadlines: Deadlines,
    settings: LaneSettings,
    parts: LanesParts = {},
  ) {
    this.#callService = callService;
    this.#deadlines = deadlines;
    this.settings = settings;
    this.lanes = buildLanes(settings, parts.breakerChanged);
    this.known = parts.known ?? new KnownSessions();
    this.limit = new StrangersLimit(settings.maxInFlight, settings.timeoutMs);
  }

  /**
   * Calls the service: deadline, then a place in the lane, then attempts through the lane's breaker. Settles
   * within `timeoutMs`, of which `spentMs` have passed already. `forced`: a lane other than that of the session.
   */
  async call(
    session: SessionIdentity,
    keys: SessionKeys,
    spentMs = 0,
    forced?: LaneName,
  ): Promise<Verdict<User>> {
    const { tokenKey } = keys;
    const { lane: own, caller } = this.known.find(keys);
    const name = forced ?? own;
    const lane = this.lanes[name];
    const denial = lane.breaker.denial(caller);
    if (denial) return denial;
    const calls = name === 'strangers' ? (this.#calls.get(tokenKey) ?? 0) : 0;
    const leftMs = Math.max(0, this.settings.timeoutMs - spentMs);
    if (calls >= MAX_CALLS_OF_TOKEN || leftMs < lane.pace.neededMs) return notEntered('full');
    const deadline = this.#deadlines.start(leftMs);
    if (name === 'strangers') count(this.#calls, tokenKey, 1);
    let entry: Entry | Promise<Entry> = this.#enter(lane, deadline);
    try {
      if (typeof entry !== 'string') entry = await entry;
      if (entry !== 'entered') return notEntered(entry);
      lane.earnRetries();
      for (let made = 1; ; made += 1) {
        const verdict = await this.#attempt(lane, session, caller, deadline);
        if (verdict.kind !== 'unavailable' || !TRANSIENT.has(verdict.reason)) return verdict;
        if (made >= this.settings.maxAttempts || !(await lane.waitToRetry(verdict, made, deadline)))
          return verdict;
      }
    } finally {
      if (name === 'strangers') count(this.#calls, tokenKey, -1);
      if (entry === 'entered') this.#leave(lane);
      deadline.clear();
    }
  }

  /** Returns the verdict of a call that has not begun, or `timeout` when the time of a check has passed. */
  within(pending: Promise<Verdict<User>>): Promise<Verdict<User>> {
    const deadline = this.#deadlines.start(this.settings.timeoutMs);
    return inTime(deadline, pending).finally(() => deadline.clear());
  }

  async #attempt(
    lane: Lane,
    session: SessionIdentity,
    caller: CallerKey,
    deadline: Deadline,
  ): Promise<Verdict<User>> {
    const { breaker, pace } = lane;
    const denial = breaker.denial(caller);
    if (denial) return denial;
    const isKnown = lane === this.lanes.known;
    const began = breaker.begin();
    const startedAtMs = performance.now();
    deadline.lostMs = 0;
    if (isKnown) this.limit.enforce(startedAtMs);
    let verdict: Verdict<User>;
    try {
      verdict = await this.#callService(session, deadline);
    } catch {
      // Code of the application, such as an interceptor or a validator, has thrown.
      verdict = unavailable('malformed');
    }
    const nowMs = performance.now();
    const durationMs = nowMs - startedAtMs - deadline.lostMs;
    breaker.recordCall(began, verdict, caller, durationMs >= pace.fullMs);
    if (verdict.kind !== 'unavailable') pace.record(durationMs);
    if (verdict.kind !== 'unavailable' || verdict.reason === 'timeout') {
      if (isKnown) this.limit.recordKnown(durationMs, nowMs);
      else this.limit.record(durationMs, lane.inFlight);
    }
    return verdict;
  }

  #enter(lane: Lane, deadline: Deadline): Entry | Promise<Entry> {
    if (deadline.ended) return deadline.ended;
    if (lane.waiting.size === 0 && this.#hasPlace(lane)) {
      lane.inFlight += 1;
      return 'entered';
    }
    return this.#isWorthWaiting(lane) && this.#makeRoom(lane) ? lane.wait(deadline) : 'full';
  }

  #leave(lane: Lane): void {
    lane.inFlight -= 1;
    const { known, strangers } = this.lanes;
    while (known.waiting.size + strangers.waiting.size > 0) {
      const next = this.#next();
      if (!next) return;
      next.letFirstEnter();
    }
  }

  #isAtLimit(lane: Lane): boolean {
    return lane === this.lanes.strangers && this.limit.isReached(lane.inFlight);
  }

  #hasPlace(lane: Lane): boolean {
    const { known, strangers } = this.lanes;
    return known.inFlight + strangers.inFlight < this.settings.maxInFlight && !this.#isAtLimit(lane);
  }

  /** Whether one more check can expect a place within half of `timeoutMs`, by the lane's own share. */
  #isWorthWaiting(lane: Lane): boolean {
    const { inFlight, share, waiting, pace } = lane;
    const places = this.#isAtLimit(lane) ? inFlight : Math.max(1, share, inFlight);
    return (waiting.size + 1) * pace.usualMs <= (places * this.settings.timeoutMs) / 2;
  }

  #next(): Lane | undefined {
    const { known, strangers } = this.lanes;
    const strangersCan = strangers.waiting.size > 0 && this.#hasPlace(strangers);
    if (known.waiting.size === 0 || !this.#hasPlace(known)) return strangersCan ? strangers : undefined;
    if (!strangersCan) return known;
    if (this.settings.maxInFlight > 1) return known.inFlight < known.share ? known : strangers;
    this.#turn = (this.#turn + 1) % STRANGERS_TURN;
    return this.#turn === 0 ? strangers : known;
  }

  #makeRoom(lane: Lane): boolean {
    const { known, strangers } = this.lanes;
    if (known.waiting.size + strangers.waiting.size < this.settings.maxQueued) return true;
    if (lane.waiting.size >= lane.queueShare) return false;
    const [oldest] = (lane === known ? strangers : known).waiting;
    oldest?.settle('full');
    return oldest !== undefined;
  }
}

/**
 * Failures of strangers open the breaker of strangers alone. Those of known sessions are trustworthy: they
 * open both breakers, which then close together, unless a stranger's call was made in between. A 429 pauses
 * its own lane alone.
 */
function buildLanes(
  { breaker, timeoutMs, maxInFlight, maxQueued }: LaneSettings,
  changed: BreakerChanged = () => undefined,
): Readonly<Record<LaneName, Lane>> {
  const strangersBreaker = new LaneBreaker(breaker, (state) => changed('strangers', state));
  let before: BreakerState = 'closed';
  const knownBreaker = new LaneBreaker(breaker, (state) => {
    changed('known', state);
    if (before === 'closed' && !knownBreaker.isLimited) strangersBreaker.trip();
    if (state === 'closed') strangersBreaker.undoTrip();
    before = state;
  });
  const share = strangersShare(maxInFlight);
  const queueShare = strangersShare(maxQueued);
  return {
    known: new Lane(maxInFlight - share, maxQueued - queueShare, knownBreaker, timeoutMs),
    strangers: new Lane(share, queueShare, strangersBreaker, timeoutMs),
  };
}

function strangersShare(places: number): number {
  return places < 2 ? 0 : Math.max(1, Math.floor(places / 4));
}

function notEntered(entry: Exclude<Entry, 'entered'>): Unavailable {
  return entry === 'full' ? unavailable('busy', BUSY_RETRY_AFTER_SECONDS) : unavailable(entry);
}

type Entry = 'entered' | 'full' | DeadlineEnd;

interface Waiter {
  readonly deadline: Deadline;
  settle(entry: Entry): void;
}

/** Longest pause before the second attempt, in milliseconds. It doubles with each further attempt. */
const FIRST_PAUSE_MS = 50;
/** Retries earned by each first attempt: less than a tenth, so that an outage does not double the load. */
const RETRIES_PER_CHECK = 0.08;
/** Initial and maximum number of retries that are saved. */
const MAX_RETRIES = 10;

export class Lane {
  inFlight = 0;
  /** Waiting checks, the oldest first. */
  readonly waiting = new Set<Waiter>();
  readonly pace: Pace;
  #retries = MAX_RETRIES;

  /** `share` and `queueShare`: its parts of `maxInFlight` and of `maxQueued`. */
  constructor(
    readonly share: number,
    readonly queueShare: number,
    readonly breaker: LaneBreaker,
    timeoutMs: number,
  ) {
    this.pace = new Pace(timeoutMs);
  }

  wait(deadline: Deadline): Promise<Entry> {
    return new Promise((resolve) => {
      const waiter = {
        deadline,
        settle: (entry: Entry): void => {
          if (this.waiting.delete(waiter)) resolve(entry);
        },
      };
      this.waiting.add(waiter);
      deadline.onEnd(waiter.settle);
    });
  }

  letFirstEnter(): void {
    const [first] = this.waiting;
    if (!first) return;
    const isInTime = first.deadline.remainingMs >= this.pace.neededMs;
    if (isInTime) this.inFlight += 1;
    first.settle(isInTime ? 'entered' : 'full');
  }

  earnRetries(): void {
    this.#retries = Math.min(MAX_RETRIES, this.#retries + RETRIES_PER_CHECK);
  }

  /**
   * Waits before the next attempt, with full jitter. Returns whether it may be made. After a connection that
   * the service had closed, it is immediate and costs no retry.
   */
  async waitToRetry({ staleConnection }: Unavailable, made: number, deadline: Deadline): Promise<boolean> {
    if (deadline.ended) return false;
    const pauseMs = staleConnection ? 0 : Math.random() * FIRST_PAUSE_MS * 2 ** (made - 1);
    if (deadline.remainingMs - pauseMs < this.pace.neededMs) return false;
    if (staleConnection) return true;
    if (this.#retries < 1) return false;
    this.#retries -= 1;
    await delay(pauseMs, undefined, { ref: false });
    return !deadline.ended;
  }
}

/** Weight of a new duration in the moving average. */
const WEIGHT = 1 / 8;

/**
 * The usual duration of the answered calls of a lane, and the times that follow from it. Their bounds depend
 * on `timeoutMs` alone, so that a slow phase does not block the lane.
 */
export class Pace {
  readonly #timeoutMs: number;
  /** A moving average in milliseconds; 0 before the first answer. */
  usualMs = 0;
  /** Milliseconds with which a call that begins now can be expected to end in time. */
  neededMs = 0;
  /** Milliseconds after which a call that timed out had its full time. */
  fullMs = 0;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    this.record(0);
  }

  record(durationMs: number): void {
    const timeoutMs = this.#timeoutMs;
    this.usualMs += this.usualMs === 0 ? durationMs : (durationMs - this.usualMs) * WEIGHT;
    this.neededMs = Math.min(Math.max(2 * this.usualMs, 0.1 * timeoutMs), 0.5 * timeoutMs);
    this.fullMs = Math.min(Math.max(2 * this.usualMs, 0.5 * timeoutMs), 0.9 * timeoutMs);
  }
}
