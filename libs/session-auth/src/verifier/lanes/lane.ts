import type { Deadline, DeadlineEnd } from '../../client/deadline.js';
import type { SessionIdentity, TokenKey } from '../../contract/session-identity.js';
import { unavailable, type Unavailable, type Verdict } from '../../contract/outcome.js';
import type { CircuitBreaker } from './circuit-breaker.js';
import { evidenceOf } from './circuit-breaker.js';
import type { Pace } from './pace.js';
import type { Retry } from './retry.js';
import type { StrangersLimit } from './strangers-limit.js';

/** One question to the service: whose session is this? */
export type Ask<User> = (session: SessionIdentity, deadline: Deadline) => Promise<Verdict<User>>;

/** What a check gets that asks for a place: it, none, or the end of its deadline. */
export type AdmissionResult = 'admitted' | 'full' | DeadlineEnd;

/** A check that waits for a place. */
export interface Waiter {
  readonly deadline: Deadline;
  settle(admitted: AdmissionResult): void;
}

/** What a lane is made of. */
export interface LaneParts {
  /** Places of `maxInFlight` that are its own. */
  readonly share: number;
  /** Places of `maxQueued` that are its own. */
  readonly queueShare: number;
  readonly pace: Pace;
  readonly retry: Retry;
  readonly breaker: CircuitBreaker | undefined;
  /** Calls in flight at most, whatever the share. */
  readonly limit?: StrangersLimit;
  /** The limit that holds for the sake of this lane. */
  readonly strangersLimit?: StrangersLimit;
}

/** Calls of one kind of callers: its places, its queue, its circuit breaker, its retries. */
export class Lane {
  /** Calls in flight. */
  inFlight = 0;
  /** The one that has waited longest is the first. */
  readonly waiting = new Set<Waiter>();
  readonly share: number;
  readonly queueShare: number;
  readonly pace: Pace;
  readonly #retry: Retry;
  readonly #breaker: CircuitBreaker | undefined;
  readonly #limit: StrangersLimit | undefined;
  readonly #strangersLimit: StrangersLimit | undefined;

  constructor({ share, queueShare, pace, retry, breaker, limit, strangersLimit: protectedBy }: LaneParts) {
    this.share = share;
    this.queueShare = queueShare;
    this.pace = pace;
    this.#retry = retry;
    this.#breaker = breaker;
    this.#limit = limit;
    this.#strangersLimit = protectedBy;
  }

  /** Whether it may have no more calls in flight, even with places free. */
  get isAtLimit(): boolean {
    return this.#limit?.isReached(this.inFlight) === true;
  }

  /** The answer to a check while the breaker is open. */
  denial(tokenKey: TokenKey): Unavailable | undefined {
    return this.#breaker?.denial(tokenKey);
  }

  /** Whether another check that begins to wait can expect a place in time. Its own share is what a lane can count on. */
  isWorthWaiting(): boolean {
    const places = this.isAtLimit ? this.inFlight : Math.max(1, this.share, this.inFlight);
    return (this.waiting.size + 1) * this.pace.usualMs <= places * this.pace.patienceMs;
  }

  /** Makes the calls of a check that has a place. Never rejects. */
  check<User>(ask: Ask<User>, session: SessionIdentity, tokenKey: TokenKey, deadline: Deadline): Promise<Verdict<User>> {
    return this.#retry.run(() => this.#attempt(ask, session, tokenKey, deadline), deadline);
  }

  /** Code of the application (an interceptor, a validator) may throw. */
  async #attempt<User>(ask: Ask<User>, session: SessionIdentity, tokenKey: TokenKey, deadline: Deadline): Promise<Verdict<User>> {
    const refusal = this.#breaker?.denial(tokenKey);
    if (refusal) return refusal;
    const began = this.#breaker?.begin();
    const startedAtMs = performance.now();
    this.#strangersLimit?.hold(startedAtMs);
    let verdict: Verdict<User>;
    try {
      verdict = await ask(session, deadline);
    } catch {
      verdict = unavailable('malformed');
    }
    const endedAtMs = performance.now();
    const durationMs = endedAtMs - startedAtMs;
    if (began) this.#breaker?.record(began, evidenceOf(verdict, this.pace.isFullTime(durationMs)), tokenKey, endedAtMs);
    this.#record(verdict, durationMs, endedAtMs);
    return verdict;
  }

  #record(verdict: Verdict<unknown>, durationMs: number, nowMs: number): void {
    const wasAnswered = verdict.kind !== 'unavailable';
    if (wasAnswered) this.pace.record(durationMs);
    if (!wasAnswered && verdict.reason !== 'timeout') return;
    this.#limit?.record(durationMs, nowMs, this.inFlight);
    this.#strangersLimit?.recordKnown(durationMs, nowMs);
  }
}
