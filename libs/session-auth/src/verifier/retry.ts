import { setTimeout as delay } from 'node:timers/promises';
import type { Deadline } from '../client/deadline.js';
import type { UnavailableReason, Verdict } from '../contract/verdict.js';

/** How often one check may ask the service. */
export interface RetrySettings {
  /** Attempts in all, the first included. */
  readonly maxAttempts: number;
}

/** Failures that another attempt may not meet. A timeout is not among them: it has used the time up. */
const TRANSIENT: ReadonlySet<UnavailableReason> = new Set(['unreachable', 'server_error']);

/** Longest pause before the second attempt, in milliseconds; it doubles with each further one. */
const FIRST_PAUSE_MS = 50;

/** Repeats a check that failed for a passing reason, after a pause of full jitter, while its deadline leaves time. */
export async function withRetry<User>(
  attempt: () => Promise<Verdict<User>>,
  deadline: Deadline,
  { maxAttempts }: RetrySettings,
): Promise<Verdict<User>> {
  let verdict = await attempt();
  for (let made = 1; made < maxAttempts && isTransient(verdict); made += 1) {
    const pauseMs = Math.random() * FIRST_PAUSE_MS * 2 ** (made - 1);
    if (deadline.ended || pauseMs >= deadline.remainingMs) break;
    await delay(pauseMs, undefined, { ref: false });
    verdict = await attempt();
  }
  return verdict;
}

function isTransient(verdict: Verdict<unknown>): boolean {
  return verdict.kind === 'unavailable' && TRANSIENT.has(verdict.reason);
}
