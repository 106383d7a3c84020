import { setTimeout as delay } from 'node:timers/promises';
import type { Deadline } from '../../client/deadline.js';
import type { Unavailable, UnavailableReason, Verdict } from '../../contract/outcome.js';
import type { Pace } from './pace.js';

/** How often one check may ask the service. */
export interface RetrySettings {
  /** Attempts in all, the first included. 1 to 10. @default 2 */
  readonly maxAttempts: number;
}

/** Failures that another attempt may not meet. A timeout is not among them: it has used the time up. */
const TRANSIENT: ReadonlySet<UnavailableReason> = new Set(['unreachable', 'server_error']);

/** Longest pause before the second attempt, in milliseconds; it doubles with each further one. */
const FIRST_PAUSE_MS = 50;

/** Repeats a check that failed for a passing reason, after a pause of full jitter, while its deadline and the budget leave room. */
export class Retry {
  readonly #maxAttempts: number;
  readonly #budget: RetryBudget;
  readonly #pace: Pace;

  constructor({ maxAttempts }: RetrySettings, budget: RetryBudget, pace: Pace) {
    this.#maxAttempts = maxAttempts;
    this.#budget = budget;
    this.#pace = pace;
  }

  /** Makes attempts until one is final. */
  async run<User>(attempt: () => Promise<Verdict<User>>, deadline: Deadline): Promise<Verdict<User>> {
    this.#budget.earn();
    let verdict = await attempt();
    for (let made = 1; made < this.#maxAttempts && isTransient(verdict); made += 1) {
      if (!(await this.#pause(verdict, made, deadline))) break;
      verdict = await attempt();
    }
    return verdict;
  }

  /** Waits for the next attempt; says whether there may be one. A connection that the service had closed is tried again at once and for free. */
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

/** What each first attempt adds: retries stay below a tenth of them, so that an outage is not met with twice the load. */
const EARNED_BY_AN_ATTEMPT = 0.08;
/** Retries that are there from the start, and at most saved up. */
const MAX_SAVED = 10;

/** Bounds retries by the number of first attempts. */
export class RetryBudget {
  #saved = MAX_SAVED;

  /** A first attempt is made. */
  earn(): void {
    this.#saved = Math.min(MAX_SAVED, this.#saved + EARNED_BY_AN_ATTEMPT);
  }

  /** Takes one retry, if there is one. */
  spend(): boolean {
    if (this.#saved < 1) return false;
    this.#saved -= 1;
    return true;
  }
}
