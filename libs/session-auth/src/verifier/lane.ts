import type { Deadline, DeadlineEnd } from '../client/deadline.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import { unavailable, type Unavailable, type Verdict } from '../contract/outcome.js';
import type { CallerKey } from './known-sessions.js';
import { callResultOf, type LaneBreaker } from './lane-breaker.js';
import type { Pace } from './pace.js';
import type { Retry } from './retry.js';
import type { StrangersLimit } from './strangers-limit.js';

/** Makes one call to the session service: gets the user of a session. */
export type Ask<User> = (session: SessionIdentity, deadline: Deadline) => Promise<Verdict<User>>;

/** Result of a check at the bulkhead: a place, no room, or the end of the deadline. */
export type BulkheadResult = 'entered' | 'full' | DeadlineEnd;

/** A check that waits for a place. */
interface Waiter {
  readonly deadline: Deadline;
  settle(result: BulkheadResult): void;
}

const MALFORMED = unavailable('malformed');

/** Parts of a {@link Lane}. */
export interface LaneParts {
  /** Places of `maxInFlight` that are reserved for the lane. */
  readonly share: number;
  /** Places of `maxQueued` that are reserved for the lane. */
  readonly queueShare: number;
  readonly pace: Pace;
  readonly retry: Retry;
  readonly breaker: LaneBreaker;
  /** Bounds the calls in flight of this lane, regardless of its share. */
  readonly limit?: StrangersLimit;
  /** The limit of the strangers' lane, which calls of this lane adjust and enforce. */
  readonly strangersLimit?: StrangersLimit;
}

/** The calls of known sessions, or of strangers: their places, queue, circuit breaker and retries. */
export class Lane {
  /** Calls in flight. */
  inFlight = 0;
  /** Waiting checks, the oldest first. */
  readonly waiting = new Set<Waiter>();
  readonly share: number;
  readonly queueShare: number;
  readonly pace: Pace;
  readonly #retry: Retry;
  readonly #breaker: LaneBreaker;
  readonly #limit: StrangersLimit | undefined;
  readonly #strangersLimit: StrangersLimit | undefined;

  constructor({ share, queueShare, pace, retry, breaker, limit, strangersLimit }: LaneParts) {
    this.share = share;
    this.queueShare = queueShare;
    this.pace = pace;
    this.#retry = retry;
    this.#breaker = breaker;
    this.#limit = limit;
    this.#strangersLimit = strangersLimit;
  }

  /** Whether the lane may start no more calls, even if places are free. */
  get isAtLimit(): boolean {
    return this.#limit?.isReached(this.inFlight) === true;
  }

  /** Returns the denial of a check while the breaker is open. */
  denial(caller: CallerKey): Unavailable | undefined {
    return this.#breaker.denial(caller);
  }

  /**
   * Returns whether one more waiting check can expect a place in time. A lane can rely only on its own share.
   */
  isWorthWaiting(): boolean {
    const places = this.isAtLimit ? this.inFlight : Math.max(1, this.share, this.inFlight);
    return (this.waiting.size + 1) * this.pace.usualMs <= places * this.pace.patienceMs;
  }

  /** Makes the calls of a check that has a place. Never rejects. */
  check<User>(
    ask: Ask<User>,
    session: SessionIdentity,
    caller: CallerKey,
    deadline: Deadline,
  ): Promise<Verdict<User>> {
    return this.#retry.run(() => this.#attempt(ask, session, caller, deadline), deadline);
  }

  /** Catches errors, because code of the application (an interceptor, a validator) may throw. */
  #attempt<User>(
    ask: Ask<User>,
    session: SessionIdentity,
    caller: CallerKey,
    deadline: Deadline,
  ): Promise<Verdict<User>> {
    const denial = this.#breaker.denial(caller);
    if (denial) return Promise.resolve(denial);
    const began = this.#breaker.begin();
    const startedAtMs = performance.now();
    this.#strangersLimit?.enforce(startedAtMs);
    const record = (verdict: Verdict<User>): Verdict<User> => {
      const endedAtMs = performance.now();
      const durationMs = endedAtMs - startedAtMs;
      if (verdict.kind === 'unavailable' && verdict.reason === 'rate_limited') {
        this.#breaker.recordLimit(began, caller, verdict.retryAfterSeconds * 1_000, endedAtMs);
      } else
        this.#breaker.record(
          began,
          callResultOf(verdict, this.pace.isFullTime(durationMs)),
          caller,
          endedAtMs,
        );
      this.#record(verdict, durationMs, endedAtMs);
      return verdict;
    };
    // One promise for an attempt: an async function, with an await in it, has three.
    try {
      return ask(session, deadline).then(record, () => record(MALFORMED));
    } catch {
      return Promise.resolve(MALFORMED).then(record);
    }
  }

  #record(verdict: Verdict<unknown>, durationMs: number, nowMs: number): void {
    const wasAnswered = verdict.kind !== 'unavailable';
    if (wasAnswered) this.pace.record(durationMs);
    if (!wasAnswered && verdict.reason !== 'timeout') return;
    this.#limit?.record(durationMs, nowMs, this.inFlight);
    this.#strangersLimit?.recordKnown(durationMs, nowMs);
  }
}
