import { CHECKS } from '../contract/diagnostics.js';
import type { Verdict } from '../contract/outcome.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import { ageMs } from './clock-steps.js';

export interface SessionCheck<User> {
  readonly verifier: object;
  readonly session: SessionIdentity;
  readonly verdict: Verdict<User> | Promise<Verdict<User>>;
  /** Whether the verdict comes from a call of the service that this check started. */
  readonly isFresh: boolean;
  /** Time of the check, in milliseconds of the monotonic clock. */
  readonly madeAtMs: number;
  /** The same by the wall clock. */
  readonly madeAtWallMs: number;
  /** The revoker's count at the time of the check. */
  readonly revocations: number;
}

/** Longest time that the guards of one request share a check: a request may last as long as a stream. */
const MAX_REUSE_MS = 10_000;

export function canReuse(
  earlier: SessionCheck<unknown>,
  presented: SessionIdentity,
  maxAgeMs: number,
): boolean {
  const { session, isFresh, madeAtMs, madeAtWallMs } = earlier;
  const isSame = session.token === presented.token && session.authIv === presented.authIv;
  if (!isSame || !(isFresh || maxAgeMs === Infinity)) return false;
  return ageMs(madeAtMs, madeAtWallMs) < MAX_REUSE_MS;
}

export function reportCachedCheck({ kind }: Verdict<unknown>, authority: string): void {
  CHECKS.publish({ ...OF_THE_CACHE, outcome: kind, authority });
}

const OF_THE_CACHE = {
  source: 'cache',
  joined: false,
  stale: false,
  reason: undefined,
  durationMs: 0,
} as const;

/** Publishes a check when its verdict is available, and returns that verdict. */
export async function reportCheck<User>(
  pending: Promise<Verdict<User>>,
  joined: boolean,
  authority: string,
): Promise<Verdict<User>> {
  const start = performance.now();
  const verdict = await pending;
  const { confirmedAtMs, stale = false } = verdict.kind === 'authenticated' ? verdict : {};
  CHECKS.publish({
    outcome: verdict.kind,
    authority,
    source: confirmedAtMs !== undefined ? 'store' : stale ? 'cache' : 'service',
    joined,
    stale,
    reason: verdict.kind === 'unavailable' ? verdict.reason : undefined,
    durationMs: performance.now() - start,
  });
  return verdict;
}
