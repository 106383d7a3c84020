import { setTimeout as delay } from 'node:timers/promises';
import type { Deadline } from '../client/deadline.js';
import type { Unavailable, UnavailableReason, Verdict } from '../contract/outcome.js';
import type { Pace } from './pace.js';

/** Limits of the attempts of one check. */
export interface RetrySettings {
  /** Maximum number of attempts, including the first. 1 to 10. @default 2 */
  readonly maxAttempts: number;
}

/** Failures that another attempt may avoid. Not `timeout`, which has used up the time. */
const TRANSIENT: ReadonlySet<UnavailableReason> = new Set(['unreachable', 'server_error']);

/** Longest pause before the second attempt, in milliseconds. It doubles with each further attempt. */
const FIRST_PAUSE_MS = 50;

/**
 * Repeats a check that failed with a transient error, after a pause with full jitter, within its deadline and
 * the retry budget.
 */
export class Retry {
  readonly #maxAttempts: number;
  readonly #budget: RetryBudget;
  readonly #pace: Pace;

  constructor({ maxAttempts }: RetrySettings, budget: RetryBudget, pace: Pace) {
    this.#maxAttempts = maxAttempts;
    this.#budget = budget;
    this.#pace = pace;
  }

  /**
   * Makes attempts until a verdict is not a transient failure, or no other attempt is allowed. Returns the
   * last verdict.
   */
  run<User>(attempt: () => Promise<Verdict<User>>, deadline: Deadline): Promise<Verdict<User>> {
    this.#budget.earn();
    return attempt().then((verdict) =>
      isTransient(verdict) && this.#maxAttempts > 1 ? this.#repeat(verdict, attempt, deadline) : verdict,
    );
  }

  async #repeat<User>(
    first: Unavailable,
    attempt: () => Promise<Verdict<User>>,
    deadline: Deadline,
  ): Promise<Verdict<User>> {
    let verdict: Verdict<User> = first;
    for (let made = 1; made < this.#maxAttempts && isTransient(verdict); made += 1) {
      if (!(await this.#pause(verdict, made, deadline))) break;
      verdict = await attempt();
    }
    return verdict;
  }

  /**
   * Waits before the next attempt. Returns whether it may be made. After a connection that the service had
   * closed, the attempt is immediate and costs no budget.
   */
  async #pause({ staleConnection }: Unavailable, made: number, deadline: Deadline): Promise<boolean> {
    if (deadline.ended) return false;
    const pauseMs = staleConnection ? 0 : Math.random() * FIRST_PAUSE_MS * 2 ** (made - 1);
    if (!this.#pace.fits(deadline.remainingMs - pauseMs)) return false;
    if (staleConnection) return true;
    if (!this.#budget.spend()) return false;
    await delay(pauseMs, undefined, { ref: false });
    return !deadline.ended;
  }
}

function isTransient(verdict: Verdict<unknown>): verdict is Unavailable {
  return verdict.kind === 'unavailable' && TRANSIENT.has(verdict.reason);
}

/**
 * Budget earned by each first attempt. Retries stay below a tenth of first attempts, so that an outage does
 * not double the load.
 */
const EARNED_PER_ATTEMPT = 0.08;
/** Initial and maximum budget, in retries. */
const MAX_SAVED = 10;

/** Bounds the number of retries by the number of first attempts. */
export class RetryBudget {
  #saved = MAX_SAVED;

  /** Records a first attempt. */
  earn(): void {
    this.#saved = Math.min(MAX_SAVED, this.#saved + EARNED_PER_ATTEMPT);
  }

  /** Takes one retry from the budget. Returns `false` if none is left. */
  spend(): boolean {
    if (this.#saved < 1) return false;
    this.#saved -= 1;
    return true;
  }
}
