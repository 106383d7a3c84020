import type { SessionIdentity } from '../contract/session-identity.js';
import { bodyOf } from '../exceptions/denial-body.js';
import { type GuardDenial, payloadOf } from '../guard/denial.js';
import type { WatchParts } from '../guard/open-reply.js';
import { ADMISSION } from '../guard/guarded-request.js';
import { disconnect, type SocketClient, whenClosed } from '../guard/socket-client.js';
import type { GuardedCall } from '../guard/transport.js';
import { watchCall } from '../open/watched-call.js';

/** A session that a socket is watched for. */
interface WatchedFor {
  readonly parts: WatchParts;
  readonly session: SessionIdentity;
}

const watchedFor = new WeakMap<object, WatchedFor[]>();

/** Closes a socket of graphql-ws, with all of its subscriptions, when the session of one of them ends. */
export function closeWithSession(call: GuardedCall, parts: WatchParts, socket: SocketClient): void {
  const session = call.request[ADMISSION]?.session;
  if (!session) return;
  const all = watchedFor.get(socket) ?? [];
  if (all.some((each) => each.parts === parts && isSame(each.session, session))) return;
  const watching = watchCall({ call, parts }, (denial) => disconnect(socket, payloadOf(denial)));
  if (!watching) return;
  watchedFor.set(socket, [...all, { parts, session }]);
  whenClosed(socket, () => watching.watched.over());
}

function isSame(one: SessionIdentity, other: SessionIdentity): boolean {
  return one.token === other.token && one.authIv === other.authIv;
}

/** The last events of a subscription over a stream of events, as its protocol has them: an error, and the end. */
export function lastEvents(denial: GuardDenial): string {
  const extensions = { code: 'UNAUTHENTICATED', originalError: bodyOf(denial) };
  const errors = [{ message: denial.message, extensions }];
  return `event: next\ndata: ${JSON.stringify({ errors })}\n\nevent: complete\ndata:\n\n`;
}
