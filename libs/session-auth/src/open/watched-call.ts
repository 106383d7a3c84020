import { isMarked, KEEP_OPEN } from '../guard/access-metadata.js';
import type { GuardDenial } from '../guard/denial.js';
import type { GuardedCall, WatchParts } from '../guard/transport.js';
import { ADMISSION, type Admission, CHECK, type GuardedRequest } from '../guard/guarded-request.js';
import { type Watched, WatchedSessions } from './watched-sessions.js';

interface WatchedCall {
  readonly watched: Watched;
  /** Whether it may be open: a promise if its session may have ended since the guard admitted the call. */
  readonly isOpen: boolean | Promise<boolean>;
}

/**
 * Watches what stays open of an admitted call. Returns `undefined` if it may outlive its session, or has
 * none.
 * @param end called once, if it ends with its session
 */
export function watchCall(
  { call, parts }: { readonly call: GuardedCall; readonly parts: WatchParts },
  end: (denial: GuardDenial) => void,
  admission: Admission | undefined = call.request[ADMISSION],
): WatchedCall | undefined {
  if (!admission?.session || !admission.user) return undefined;
  const { context, session, user } = admission;
  if (isMarked(KEEP_OPEN, context.getHandler(), context.getClass())) return undefined;
  const watched = WatchedSessions.of(parts).watch(session, { ...parts.whileOpen, end });
  const { sessionIsStale: stale }: GuardedRequest = call.request;
  const earlier = call.request[CHECK];
  const isOpen =
    parts.verifier.check(session, Infinity, earlier) === earlier
      ? watched.admit({ kind: 'authenticated', user, ...(stale && { stale }) })
      : watched.confirm();
  return { watched, isOpen };
}
