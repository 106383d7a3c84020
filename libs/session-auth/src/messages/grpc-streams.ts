import type { HttpDenial } from '../contract/denials.js';
import type { WatchRegistration, GuardedCall } from '../guard/transport.js';
import { watchCall } from '../open/watched-call.js';
import { emitError, grpcErrorOf, hasMethods, type ServerCall } from './grpc-call.js';

type StreamingCall = Omit<ServerCall, 'emit'> & {
  cancelled: boolean;
  write(message: unknown): boolean;
  emit: (this: StreamingCall, event: 'error' | 'cancelled', reason: unknown) => unknown;
  once(event: 'close' | 'finish' | 'cancelled', listener: () => void): unknown;
};

export function endWithSession(
  call: GuardedCall,
  registration: WatchRegistration,
  grpc: ServerCall | undefined,
): void {
  // No event of a cancelled call would end the watch.
  if (!isStreaming(grpc) || grpc.cancelled) return;
  const watching = watchCall({ call, registration }, (denial) => endStream(grpc, denial));
  if (!watching) return;
  const over = (): void => watching.watched.over();
  for (const event of ['close', 'finish', 'cancelled'] as const) grpc.once(event, over);
}

/**
 * To the handler, its client has cancelled the call. The client gets the status: of a call in both directions,
 * Nest passes the error to the requests that the handler reads, and would report theirs in its place while a
 * message is still being sent.
 */
function endStream(call: StreamingCall, denial: HttpDenial): void {
  call.write = () => false;
  const { emit } = call;
  let isReported = false;
  call.emit = (event, reason) => {
    if (event === 'error' && isReported) return true;
    isReported ||= event === 'error';
    return emit.call(call, event, reason);
  };
  emitError(call, grpcErrorOf(denial));
  call.cancelled = true;
  call.emit('cancelled', 'cancelled');
}

function isStreaming(call: ServerCall | undefined): call is StreamingCall {
  return hasMethods(call, 'write');
}
