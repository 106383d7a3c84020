import type { ExecutionContext } from '@nestjs/common';
import type { UserRecord } from '../contract/record/user-record.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import type { SessionCheck } from '../verifier/session-verifier.js';
import type { HttpRequest } from './http-request.js';

/** Key of the last check of a request that called the service. */
export const CHECK = Symbol('session check');
/** Key of the last admission of a request, which may be for a handler other than the current one. */
export const ADMISSION = Symbol('admission');

interface Verifier {
  readonly revoker: { readonly count: number };
}

export interface Admission {
  readonly verifier: Verifier;
  /** Number of revocations that the verifier had counted at the admission. */
  readonly revocations: number;
  /** The context of the call: one object for all guards of one handler. */
  readonly context: ExecutionContext;
  readonly user: UserRecord | undefined;
  /** The application's own user, which is attached to the request in place of the record. */
  readonly localUser?: unknown;
  /** The presented session; `undefined` if the rule admitted the request without a session. */
  readonly session: SessionIdentity | undefined;
  /** The check of that session. */
  readonly check?: SessionCheck<UserRecord> | undefined;
  /** Whether a subclass of the guard made it: the user that it sets after that stays. */
  readonly isBySubclass?: boolean;
}

export interface GuardedRequest extends Partial<HttpRequest> {
  /** The record, or the application's own user. */
  user?: unknown;
  /**
   * Set if the user comes from an expired cache entry, because the service was unavailable
   * (`staleIfErrorMs`).
   */
  sessionIsStale?: true | undefined;
  [CHECK]?: SessionCheck<UserRecord>;
  [ADMISSION]?: Admission;
}

/**
 * Returns whether a guard of the same registration has admitted this call already: one handler may name the
 * guard more than once. Returns `false` if a session was revoked or the user was replaced in between, for
 * example by a guard of the application that is no subclass of this one.
 */
export function isAdmitted(request: GuardedRequest, verifier: Verifier, context: ExecutionContext): boolean {
  const admission = request[ADMISSION];
  if (admission?.context !== context || admission.verifier !== verifier) return false;
  const { session, revocations, isBySubclass } = admission;
  const isCurrent = session === undefined || revocations === verifier.revoker.count;
  return isCurrent && (isBySubclass === true || attachedUserOf(admission) === request.user);
}

/**
 * Attaches an admission and its user, which replaces any earlier one but that of a subclass of the guard,
 * which admitted this call before: it stays as long as there is a user. @param stale see `sessionIsStale`
 */
export function attach(request: GuardedRequest, admission: Admission, stale?: true): void {
  const before = request[ADMISSION];
  const { user, localUser = user, context, verifier, isBySubclass } = admission;
  const isCall = before?.context === context && before.verifier === verifier;
  const keepsUser = isCall && before.isBySubclass === true && !isBySubclass && user !== undefined;
  if (!keepsUser) request.user = localUser;
  if (stale ?? request.sessionIsStale) request.sessionIsStale = stale;
  request[ADMISSION] = keepsUser ? { ...admission, isBySubclass: true } : admission;
}

export function attachedUserOf({ user, localUser = user }: Pick<Admission, 'user' | 'localUser'>): unknown {
  return localUser;
}
