import type { SessionIdentity } from '../contract/session-identity.js';
import type { UserRecord } from '../contract/user-record.js';
import type { Verdict } from '../contract/verdict.js';

const CHECKED = Symbol('checked');
const TOKEN = Symbol('token');

/** What one guard found out for one request: asked once, however many guards and resolvers ask. */
export interface CheckedSession {
  readonly verifier: object;
  readonly session: SessionIdentity;
  readonly verdict: Verdict<UserRecord> | Promise<Verdict<UserRecord>>;
}

interface GuardedRequest {
  user?: UserRecord | undefined;
  /** The service could not be asked: the session was confirmed before, and has lapsed since (`staleIfErrorMs`). */
  sessionIsStale?: true;
  [CHECKED]?: CheckedSession | undefined;
  [TOKEN]?: string | undefined;
}

/** What an earlier guard of the same module found for the same token and IV. */
export function findChecked(request: unknown, verifier: object, { token, authIv }: SessionIdentity): CheckedSession | undefined {
  const checked = (request as GuardedRequest)[CHECKED];
  const same = checked?.verifier === verifier && checked.session.token === token && checked.session.authIv === authIv;
  return same ? checked : undefined;
}

/** Keeps a verdict with its request. */
export function keepChecked(request: unknown, checked: CheckedSession): void {
  (request as GuardedRequest)[CHECKED] = checked;
}

/** Makes the user of the request, whatever stood there before: somebody with a token, or nobody. */
export function setSession(request: unknown, user: UserRecord | undefined, token: string | undefined, stale: true | undefined): void {
  const guarded = request as GuardedRequest;
  guarded.user = user;
  guarded[TOKEN] = token;
  if (stale) guarded.sessionIsStale = stale;
}

/** The user of the request. */
export function userOf(request: unknown): UserRecord | undefined {
  return (request as GuardedRequest).user;
}

/** The token of the request's session. */
export function tokenOf(request: unknown): string | undefined {
  return (request as GuardedRequest)[TOKEN];
}
