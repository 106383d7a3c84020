import { setTimeout as delay } from 'node:timers/promises';
import type { Deadline, DeadlineEnd } from '../client/deadline.js';
import type { LaneName } from '../contract/diagnostics.js';
import { unavailable, type Unavailable, type UnavailableReason, type Verdict } from '../contract/outcome.js';
import type { BreakerSettings } from './circuit-breaker.js';
import type { CallerKey } from './known-sessions.js';
import { callResultOf, type LaneBreaker } from './lane-breaker.js';
import type { StrangersLimit } from './strangers-limit.js';

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

/** How a check leaves the queue: with a place, without room, or at the end of its deadline. */
export type Entry = 'entered' | 'full' | DeadlineEnd;

interface Waiter {
  readonly deadline: Deadline;
  settle(entry: Entry): void;
}

/** Places of a lane: its part of `maxInFlight` and of `maxQueued`. */
interface LaneShares {
  readonly share: number;
  readonly queueShare: number;
}

const MALFORMED = unavailable('malformed');
/** Failures that another attempt may avoid. Not `timeout`, which has used up the time. */
const TRANSIENT: ReadonlySet<UnavailableReason> = new Set(['unreachable', 'server_error']);
/** Longest pause before the second attempt, in milliseconds. It doubles with each further attempt. */
const FIRST_PAUSE_MS = 50;
/**
 * Retries earned by each first attempt. They stay below a tenth of first attempts, so that an outage does not
 * double the load.
 */
const RETRIES_PER_CHECK = 0.08;
/** Initial and maximum number of retries that are saved. */
const MAX_RETRIES = 10;

/** The calls of known sessions, or of strangers: their places, queue, circuit breaker, retries and pace. */
export class Lane {
  inFlight = 0;
  /** Waiting checks, the oldest first. */
  readonly waiting = new Set<Waiter>();
  readonly share: number;
  readonly queueShare: number;
  readonly breaker: LaneBreaker;
  readonly pace: Pace;
  /** Bounds the strangers in flight; calls of known sessions adjust and enforce it. */
  readonly limit: StrangersLimit;
  readonly #isKnown: boolean;
  readonly #maxAttempts: number;
  #retries = MAX_RETRIES;

  constructor(
    name: LaneName,
    { share, queueShare }: LaneShares,
    breaker: LaneBreaker,
    limit: StrangersLimit,
    { timeoutMs, maxAttempts }: LaneSettings,
  ) {
    this.#isKnown = name === 'known';
    this.share = share;
    this.queueShare = queueShare;
    this.breaker = breaker;
    this.limit = limit;
    this.pace = new Pace(timeoutMs);
    this.#maxAttempts = maxAttempts;
  }

  /** Whether the lane may start no more calls, even if places are free. */
  get isAtLimit(): boolean {
    return !this.#isKnown && this.limit.isReached(this.inFlight);
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

  /**
   * Returns whether one more waiting check can expect a place in time: within half of `timeoutMs`. A lane can
   * rely only on its own share.
   */
  isWorthWaiting(): boolean {
    const places = this.isAtLimit ? this.inFlight : Math.max(1, this.share, this.inFlight);
    return (this.waiting.size + 1) * this.pace.usualMs <= places * this.pace.patienceMs;
  }

  /** Gives a place to the oldest waiting check, or none if too little of its time is left for a call. */
  letFirstEnter(): void {
    const [first] = this.waiting;
    if (!first) return;
    const isInTime = this.pace.fits(first.deadline.remainingMs);
    if (isInTime) this.inFlight += 1;
    first.settle(isInTime ? 'entered' : 'full');
  }

  /**
   * Makes the calls of a check that has a place: repeats one that failed with a transient error, after a
   * pause with full jitter, within the deadline and the saved retries. Returns the last verdict.
   */
  async call<User>(
    attempt: () => Promise<Verdict<User>>,
    caller: CallerKey,
    deadline: Deadline,
  ): Promise<Verdict<User>> {
    this.#retries = Math.min(MAX_RETRIES, this.#retries + RETRIES_PER_CHECK);
    let verdict = await this.#attempt(attempt, caller);
    for (let made = 1; made < this.#maxAttempts; made += 1) {
      if (verdict.kind !== 'unavailable' || !TRANSIENT.has(verdict.reason)) break;
      if (!(await this.#pause(verdict, made, deadline))) break;
      verdict = await this.#attempt(attempt, caller);
    }
    return verdict;
  }

  /**
   * Waits before the next attempt. Returns whether it may be made. After a connection that the service had
   * closed, the attempt is immediate and costs no retry.
   */
  async #pause({ staleConnection }: Unavailable, made: number, deadline: Deadline): Promise<boolean> {
    if (deadline.ended) return false;
    const pauseMs = staleConnection ? 0 : Math.random() * FIRST_PAUSE_MS * 2 ** (made - 1);
    if (!this.pace.fits(deadline.remainingMs - pauseMs)) return false;
    if (staleConnection) return true;
    if (this.#retries < 1) return false;
    this.#retries -= 1;
    await delay(pauseMs, undefined, { ref: false });
    return !deadline.ended;
  }

  async #attempt<User>(attempt: () => Promise<Verdict<User>>, caller: CallerKey): Promise<Verdict<User>> {
    const denial = this.breaker.denial(caller);
    if (denial) return denial;
    const began = this.breaker.begin();
    const startedAtMs = performance.now();
    if (this.#isKnown) this.limit.enforce(startedAtMs);
    let verdict: Verdict<User>;
    try {
      verdict = await attempt();
    } catch {
      // Code of the application, such as an interceptor or a validator, has thrown.
      verdict = MALFORMED;
    }
    const nowMs = performance.now();
    const durationMs = nowMs - startedAtMs;
    const reason = verdict.kind === 'unavailable' ? verdict.reason : undefined;
    if (verdict.kind === 'unavailable' && verdict.reason === 'rate_limited')
      this.breaker.recordLimit(began, caller, verdict.retryAfterSeconds * 1_000, nowMs);
    else {
      const result = callResultOf(verdict, this.pace.isFullTime(durationMs));
      this.breaker.recordCall(began, result, caller, nowMs);
    }
    if (reason === undefined) this.pace.record(durationMs);
    if (reason === undefined || reason === 'timeout') {
      if (this.#isKnown) this.limit.recordKnown(durationMs, nowMs);
      else this.limit.record(durationMs, nowMs, this.inFlight);
    }
    return verdict;
  }
}

/** Weight of a new duration in the moving average. */
const WEIGHT = 1 / 8;

/**
 * Tracks the usual duration of the answered calls of a lane, and derives waiting times from it. Bounds that
 * depend on `timeoutMs` alone prevent a slow phase from blocking the lane: a check with half of its time left
 * may always make a call.
 */
export class Pace {
  readonly #timeoutMs: number;
  /** Usual duration in milliseconds: a moving average of answered calls; 0 before the first answer. */
  usualMs = 0;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Longest expected wait in the queue for which a check is queued, in milliseconds: half of `timeoutMs`. */
  get patienceMs(): number {
    return this.#timeoutMs / 2;
  }

  /**
   * Milliseconds that a check may wait for the call of another instance. The check must still have time for
   * its own call: at least half of `timeoutMs`, and the usual duration plus a quarter.
   */
  get sharingMs(): number {
    return Math.max(0, 0.95 * this.#timeoutMs - Math.max(1.25 * this.usualMs, this.#timeoutMs / 2));
  }

  record(durationMs: number): void {
    this.usualMs += this.usualMs === 0 ? durationMs : (durationMs - this.usualMs) * WEIGHT;
  }

  /**
   * Returns whether a call that begins now can be expected to end in time. It needs twice the usual duration,
   * but at least a tenth and at most half of `timeoutMs`.
   */
  fits(remainingMs: number): boolean {
    return remainingMs >= this.#between(0.1, 0.5);
  }

  /**
   * Returns whether a call that timed out after `durationMs` had its full time: twice the usual duration, but
   * at least half and at most nine tenths of `timeoutMs`.
   */
  isFullTime(durationMs: number): boolean {
    return durationMs >= this.#between(0.5, 0.9);
  }

  #between(least: number, most: number): number {
    return Math.min(Math.max(2 * this.usualMs, least * this.#timeoutMs), most * this.#timeoutMs);
  }
}
