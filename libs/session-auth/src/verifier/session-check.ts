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
  /** How many revocations the verifier had seen when the check was made. */
  readonly revocations: number;
}

/** Whether two presented sessions are the same one. */
export function isSameSession(one: SessionIdentity, other: SessionIdentity): boolean {
  return one.token === other.token && one.authIv === other.authIv;
}
