import type { SessionIdentity } from '../contract/session-identity.js';
import type { UserRecord } from '../contract/user-record.js';
import type { Verdict } from '../contract/verdict.js';
import type { HttpRequest } from './http-request.js';

const SESSION = Symbol('session');

/** What one guard found out for one request: asked once, however many guards and resolvers ask. */
export interface CheckedSession {
  readonly verifier: object;
  readonly identity: SessionIdentity;
  readonly verdict: Verdict<UserRecord> | Promise<Verdict<UserRecord>>;
  /** Whether it let the request in. */
  admitted: boolean;
}

/** Where the user of a call and its verdict are kept. */
export interface GuardedRequest extends Partial<HttpRequest> {
  user?: UserRecord | undefined;
  /** The service could not be asked: the session was confirmed before, and has lapsed since (`staleIfErrorMs`). */
  sessionIsStale?: true | undefined;
  [SESSION]?: CheckedSession;
}

/** What an earlier guard of the same module found for the same token and IV. */
export function findChecked(request: GuardedRequest, verifier: object, { token, authIv }: SessionIdentity): CheckedSession | undefined {
  const checked = request[SESSION];
  return checked?.verifier === verifier && checked.identity.token === token && checked.identity.authIv === authIv ? checked : undefined;
}

/** Keeps what a guard found with its request. */
export function keepChecked(request: GuardedRequest, checked: CheckedSession): void {
  request[SESSION] = checked;
}

/** Makes the session's user the user of the request, whatever stood there before. */
export function attachUser(request: GuardedRequest, { user, stale }: Verdict<UserRecord> & { kind: 'accepted' }): void {
  request.user = user;
  if (stale ?? request.sessionIsStale) request.sessionIsStale = stale;
  const checked = request[SESSION];
  if (checked) checked.admitted = true;
}

/** Makes nobody the user of the request, whatever stood there before. */
export function attachNobody(request: GuardedRequest): void {
  request.user = undefined;
  if (request.sessionIsStale) request.sessionIsStale = undefined;
}

/** The user of the request. */
export function userOf(request: GuardedRequest): UserRecord | undefined {
  return request.user;
}

/** The token of the session that let the request in. */
export function tokenOf(request: GuardedRequest): string | undefined {
  const checked = request[SESSION];
  return checked?.admitted ? checked.identity.token : undefined;
}
