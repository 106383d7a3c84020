import type { ExecutionContext } from '@nestjs/common';
import type { UserRecord } from '../contract/record/user-record.js';
import type { Verdict } from '../contract/outcome.js';
import type { SessionCheck } from '../verifier/session-check.js';
import type { HttpRequest } from './http/http-request.js';

const CHECK = Symbol('session check');
const ADMISSION = Symbol('admission');

/** What is read of a verifier here. */
interface Verifier {
  readonly revoker: { readonly count: number };
}

/** Which guard admitted a request to which handler. */
export interface Admission {
  /** The verifier of the guard. */
  readonly verifier: Verifier;
  /** How many revocations the verifier had seen then. */
  readonly revocations: number;
  /** The context of the call: one object for all guards of one handler. */
  readonly context: ExecutionContext;
  /** The user that it made that of the request. */
  readonly user: UserRecord | undefined;
  /** The presented token; `undefined` where the rule admitted the request without a session. */
  readonly token: string | undefined;
}

/** Where the user of a call and its verdict are kept. */
export interface GuardedRequest extends Partial<HttpRequest> {
  user?: UserRecord | undefined;
  /** The service could not be asked: the session was confirmed before, and has lapsed since (`staleIfErrorMs`). */
  sessionIsStale?: true | undefined;
  [CHECK]?: SessionCheck<UserRecord>;
  [ADMISSION]?: Admission;
}

/** The last check of this request. */
export function lastCheckOf(request: GuardedRequest): SessionCheck<UserRecord> | undefined {
  return request[CHECK];
}

/** Keeps a check with its request, for the request's next guard. */
export function storeCheck(request: GuardedRequest, check: SessionCheck<UserRecord>): void {
  request[CHECK] = check;
}

/**
 * Whether a guard of the same registration has admitted this very call: one handler may name the guard more than once. A guard of the application
 * that stands between the two may have ended the session, or replaced the user.
 */
export function isAdmitted(request: GuardedRequest, verifier: Verifier, context: ExecutionContext): boolean {
  const admission = request[ADMISSION];
  if (admission?.context !== context || admission.verifier !== verifier) return false;
  return admission.revocations === verifier.revoker.count && admission.user === request.user;
}

/** Makes the session's user the user of the request, whatever stood there before. */
export function attachUser(
  request: GuardedRequest,
  { user, stale }: Verdict<UserRecord> & { kind: 'authenticated' },
  admission: Admission,
): void {
  request.user = user;
  if (stale ?? request.sessionIsStale) request.sessionIsStale = stale;
  request[ADMISSION] = admission;
}

/** Removes the user of the request, whatever stood there before. */
export function detachUser(request: GuardedRequest, admission: Admission): void {
  request.user = undefined;
  if (request.sessionIsStale) request.sessionIsStale = undefined;
  request[ADMISSION] = admission;
}

/** What the last guard found, for a call that shares its request with others: these may have users of their own. */
export function admissionOf({ user, [ADMISSION]: admission }: GuardedRequest): GuardedRequest {
  return { user, ...(admission && { [ADMISSION]: admission }) };
}

/** The user of the request. */
export function userOf(request: GuardedRequest): UserRecord | undefined {
  return request.user;
}

/** The token of the session that let the request in. */
export function tokenOf(request: GuardedRequest): string | undefined {
  return request[ADMISSION]?.token;
}
