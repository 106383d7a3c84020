import { setTimeout as delay } from 'node:timers/promises';
import type { Deadline, DeadlineEnd } from '../client/deadline.js';
import type { Unavailable } from '../contract/outcome.js';
import type { BreakerSettings } from './circuit-breaker.js';
import type { LaneBreaker } from './lane-breaker.js';

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

/** Longest pause before the second attempt, in milliseconds. It doubles with each further attempt. */
const FIRST_PAUSE_MS = 50;
/** Retries earned by each first attempt: less than a tenth, so that an outage does not double the load. */
const RETRIES_PER_CHECK = 0.08;
/** Initial and maximum number of retries that are saved. */
const MAX_RETRIES = 10;

/** The state of the calls of known sessions, or of strangers: their places, queue, retries and pace. */
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

  /** Gives a place to the oldest waiting check, or none if too little of its time is left for a call. */
  letFirstEnter(): void {
    const [first] = this.waiting;
    if (!first) return;
    const isInTime = this.pace.fits(first.deadline.remainingMs);
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
  async pause({ staleConnection }: Unavailable, made: number, deadline: Deadline): Promise<boolean> {
    if (deadline.ended) return false;
    const pauseMs = staleConnection ? 0 : Math.random() * FIRST_PAUSE_MS * 2 ** (made - 1);
    if (!this.pace.fits(deadline.remainingMs - pauseMs)) return false;
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

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Milliseconds that a check may wait for the call of another instance. It then has time for its own: at
   * least half of `timeoutMs`, and the usual duration plus a quarter.
   */
  get sharingMs(): number {
    return Math.max(0, 0.95 * this.#timeoutMs - Math.max(1.25 * this.usualMs, this.#timeoutMs / 2));
  }

  record(durationMs: number): void {
    this.usualMs += this.usualMs === 0 ? durationMs : (durationMs - this.usualMs) * WEIGHT;
  }

  /** Whether a call that begins now can be expected to end in time. */
  fits(remainingMs: number): boolean {
    return remainingMs >= this.#between(0.1, 0.5);
  }

  /** Whether a call that timed out after `durationMs` had its full time. */
  isFullTime(durationMs: number): boolean {
    return durationMs >= this.#between(0.5, 0.9);
  }

  /** Twice the usual duration, but within these parts of `timeoutMs`. */
  #between(least: number, most: number): number {
    return Math.min(Math.max(2 * this.usualMs, least * this.#timeoutMs), most * this.#timeoutMs);
  }
}
