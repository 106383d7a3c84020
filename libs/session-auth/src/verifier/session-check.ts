import { CHECKS } from '../contract/diagnostics.js';
import type { Verdict } from '../contract/outcome.js';
import type { SessionIdentity } from '../contract/session-identity.js';

/** A check of one session, for one request. */
export interface SessionCheck<User> {
  /** The verifier that made it. */
  readonly verifier: object;
  readonly session: SessionIdentity;
  readonly verdict: Verdict<User> | Promise<Verdict<User>>;
  /** The verdict comes from a call to the service that this check started: not from the cache, a store or an earlier flight. */
  readonly isFresh: boolean;
  /** When it was made, in milliseconds of the monotonic clock. */
  readonly madeAtMs: number;
  /** How many revocations the verifier had seen when the check was made. */
  readonly revocations: number;
}

/** For how long the guards of one request share a check, in milliseconds: a request may last as long as a stream. */
const MAX_REUSE_MS = 10_000;

/** Whether a check satisfies another guard of its request: for the same session, within the limit, and not for too long. */
export function canReuse({ session, isFresh, madeAtMs }: SessionCheck<unknown>, presented: SessionIdentity, maxAgeMs: number): boolean {
  const isSame = session.token === presented.token && session.authIv === presented.authIv;
  return isSame && (isFresh || maxAgeMs === Infinity) && performance.now() - madeAtMs < MAX_REUSE_MS;
}

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
