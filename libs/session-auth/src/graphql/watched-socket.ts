import { ACCESS_DENIED } from '../contract/denials.js';
import { unavailable } from '../contract/outcome.js';
import { isSameSession, type SessionIdentity } from '../contract/session-identity.js';
import { keepsOpen } from '../guard/access-metadata.js';
import { type GuardDenial, denialOfVerdict } from '../guard/denial.js';
import { payloadOf } from '../kinds/client-denial.js';
import type { WatchRegistration, GuardedCall } from '../guard/transport.js';
import { ADMISSION } from '../guard/guarded-request.js';
import { disconnect, type SocketClient, whenClosed } from '../kinds/socket-client.js';
import { watchCall } from '../open/watched-call.js';

interface WatchedFor {
  readonly registration: WatchRegistration;
  readonly session: SessionIdentity;
}

const watchedFor = new WeakMap<object, WatchedFor[]>();

const MAX_SESSIONS = 8;

/**
 * Closes a socket, with all of its subscriptions, when the session of one of them ends. Returns a denial if the
 * subscription can't be watched.
 */
export function closeWithSession(
  call: GuardedCall,
  registration: WatchRegistration,
  socket: SocketClient | undefined,
): GuardDenial | undefined {
  const session = call.request[ADMISSION]?.session;
  const { context } = call;
  if (!session || keepsOpen(context.getHandler(), context.getClass())) return undefined;
  if (!socket) {
    registration.causes.occurred('unwatched subscription');
    return ACCESS_DENIED;
  }
  const all = watchedFor.get(socket) ?? [];
  if (all.some((each) => each.registration === registration && isSameSession(each.session, session)))
    return undefined;
  if (all.length === MAX_SESSIONS) return denialOfVerdict(unavailable('busy'));
  const watching = watchCall({ call, registration }, (denial) => disconnect(socket, payloadOf(denial)));
  if (!watching) return undefined;
  watchedFor.set(socket, [...all, { registration, session }]);
  whenClosed(socket, () => watching.watched.over());
  return undefined;
}
