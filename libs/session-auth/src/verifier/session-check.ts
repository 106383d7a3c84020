import type { SessionIdentity } from '../contract/session-identity.js';
import type { Verdict } from '../contract/verdict.js';

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
