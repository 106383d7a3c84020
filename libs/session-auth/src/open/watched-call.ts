import { keepsOpen } from '../guard/access-metadata.js';
import type { GuardDenial } from '../guard/denial.js';
import type { GuardedCall, WatchRegistration } from '../guard/transport.js';
import { ADMISSION, type Admission, type GuardedRequest } from '../guard/guarded-request.js';
import { type Watched, WatchedSessions } from './watched-sessions.js';

interface WatchedCall {
  readonly watched: Watched;
  /** Whether it may be open: a promise if its session may have ended since the guard admitted the call. */
  readonly isOpen: boolean | Promise<boolean>;
}

/** Returns `undefined` if what stays open of the call may outlive its session, or has none. */
export function watchCall(
  { call, registration }: { readonly call: GuardedCall; readonly registration: WatchRegistration },
  end: (denial: GuardDenial) => void,
  admission: Admission | undefined = call.request[ADMISSION],
): WatchedCall | undefined {
  if (!admission?.session || !admission.user) return undefined;
  const { context, session, user, check: earlier } = admission;
  if (keepsOpen(context.getHandler(), context.getClass())) return undefined;
  const watched = WatchedSessions.of(registration).watch(session, { ...registration.whileOpen, end });
  const { sessionIsStale: stale }: GuardedRequest = call.request;
  const isOpen =
    registration.verifier.check(session, Infinity, earlier) === earlier
      ? watched.admit({ kind: 'authenticated', user, ...(stale && { stale }) })
      : watched.confirm();
  return { watched, isOpen };
}
