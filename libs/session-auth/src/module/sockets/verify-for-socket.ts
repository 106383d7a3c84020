import type { SessionIdentity } from '../../contract/session-identity.js';
import type { UserRecord } from '../../contract/user-record.js';
import { unavailable, type Verdict } from '../../contract/verdict.js';
import type { SessionVerifier } from '../../verifier/session-verifier.js';

/** Checks of one handshake at most. */
const MAX_CHECKS = 3;

/**
 * Checks the session of a socket. A socket outlives its check, so that the check is repeated if the sessions of its user were revoked meanwhile:
 * whose session it is is not known before the verdict.
 */
export function verifyForSocket(verifier: SessionVerifier<UserRecord>, session: SessionIdentity): SocketVerdict {
  const startedAtMs = performance.now();
  const verdict = verifier.verify(session);
  return verdict instanceof Promise ? settle(verifier, session, verdict, startedAtMs) : verdict;
}

type SocketVerdict = Verdict<UserRecord> | Promise<Verdict<UserRecord>>;

async function settle(
  verifier: SessionVerifier<UserRecord>,
  session: SessionIdentity,
  first: SocketVerdict,
  startedAtMs: number,
): Promise<Verdict<UserRecord>> {
  let pending = first;
  let sinceMs = startedAtMs;
  for (let checks = 1; checks <= MAX_CHECKS; checks += 1) {
    const verdict = await pending;
    const nowMs = performance.now();
    if (verdict.kind !== 'authenticated' || !verifier.revoker.revokedWithin(verdict.user, nowMs - sinceMs)) return verdict;
    sinceMs = nowMs;
    pending = verifier.verify(session);
  }
  return unavailable('busy');
}
