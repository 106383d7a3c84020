import type { ArgumentsHost } from '@nestjs/common';
import { isObservable, type Observable } from 'rxjs';
import type { GrpcCall, ServerCall } from './grpc-call.js';

/** The requests of a call, as Nest passes them to a handler (`@GrpcStreamMethod`). */
interface RequestStream extends Observable<unknown> {
  /** Gives what came so far to the handler. Nest calls it when the handler has run. */
  drainBuffer?(): void;
}

type Pausable = ServerCall & { pause(): unknown; resume(): unknown };

const held = new WeakSet<ServerCall>();

/**
 * Reads nothing more of a streaming call until its handler listens. On NestJS 11 a call loses what came before its end when that comes first,
 * waits for ever for it, and ends the process when it is refused then. On every version, what a stranger sends takes no room here meanwhile. A
 * refused call is never read on: gRPC discards what is left.
 */
export function pauseRequests(host: ArgumentsHost, { call }: GrpcCall): void {
  const args = host.getArgs<unknown[]>();
  const [requests] = args;
  if (!call || !isPausable(call) || !isObservable(requests) || held.has(call)) return;
  held.add(call);
  call.pause();
  args[0] = releasing(requests, call);
}

/** The same requests; the call is read on as soon as somebody listens to them or the handler has run. */
function releasing(requests: RequestStream, call: Pausable): RequestStream {
  // Nest gives what it has kept to the handler in the first of these.
  const release = () => void setImmediate(() => setImmediate(() => call.resume()));
  const subscribe = (...observer: []) => {
    release();
    return requests.subscribe(...observer);
  };
  const drainBuffer = () => {
    requests.drainBuffer?.();
    release();
  };
  return Object.create(requests, { subscribe: { value: subscribe }, drainBuffer: { value: drainBuffer } }) as RequestStream;
}

function isPausable(call: ServerCall): call is Pausable {
  return typeof call.pause === 'function' && typeof call.resume === 'function';
}
