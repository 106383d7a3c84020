import type { ArgumentsHost } from '@nestjs/common';
import { isObservable, type Observable } from 'rxjs';
import { hasMethods, type GrpcCall, type ServerCall } from './grpc-call.js';

interface RequestStream extends Observable<unknown> {
  /** Nest calls it after the handler has run. */
  drainBuffer?(): void;
}

type Pausable = ServerCall & { pause(): unknown; resume(): unknown };

const paused = new WeakSet<ServerCall>();

/**
 * Pauses a streaming call until its handler subscribes. On NestJS 11, a call whose requests end before that
 * loses them and waits for them forever, and ends the process if it is denied then. On every version, pausing
 * prevents an unchecked caller from filling the memory. A denied call is never resumed: gRPC discards the
 * remaining requests.
 */
export function pauseRequests(host: ArgumentsHost, { call }: GrpcCall): void {
  const args = host.getArgs<unknown[]>();
  const [requests] = args;
  if (!call || !isPausable(call) || !isObservable(requests) || paused.has(call)) return;
  paused.add(call);
  call.pause();
  args[0] = resuming(requests, call);
}

function resuming(requests: RequestStream, call: Pausable): RequestStream {
  // Nest passes its buffered requests to the handler in the first of the two immediates.
  const resume = () => void setImmediate(() => setImmediate(() => call.resume()));
  const subscribe = (...observer: []) => {
    resume();
    return requests.subscribe(...observer);
  };
  const drainBuffer = () => {
    requests.drainBuffer?.();
    resume();
  };
  return Object.create(requests, {
    subscribe: { value: subscribe },
    drainBuffer: { value: drainBuffer },
  }) as RequestStream;
}

function isPausable(call: ServerCall): call is Pausable {
  return hasMethods(call, 'pause', 'resume');
}
