import { CHECKS } from '../contract/diagnostics.js';
import type { Verdict } from '../contract/verdict.js';

/** Tells of a check that was answered from the memory of this instance. */
export function reportCachedCheck({ kind }: Verdict<unknown>): void {
  CHECKS.publish({ outcome: kind, source: 'cache', joined: false, stale: false, reason: undefined, durationMs: 0 });
}

/** Tells of a check when its answer is there. */
export async function reportCheck<User>(asked: Promise<Verdict<User>>, joined: boolean): Promise<Verdict<User>> {
  const start = performance.now();
  const verdict = await asked;
  const accepted = verdict.kind === 'authenticated' ? verdict : undefined;
  CHECKS.publish({
    outcome: verdict.kind,
    source: accepted?.ageMs !== undefined ? 'store' : accepted?.stale ? 'cache' : 'service',
    joined,
    stale: accepted?.stale === true,
    reason: verdict.kind === 'unavailable' ? verdict.reason : undefined,
    durationMs: performance.now() - start,
  });
  return verdict;
}
