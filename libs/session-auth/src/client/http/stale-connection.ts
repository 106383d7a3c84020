import type { Socket } from 'node:net';
import type { buildConnector } from 'undici/index.js';

/** Why a connection ends that the service had closed. A constant, because it has no stack trace of use. */
const CLOSED = new Error('the service had closed the connection');

const staleFailures = new WeakSet<Error>([CLOSED]);

/**
 * Returns a connector that records the errors of stale connections: those that have carried a reply, and end before the first byte of the next. The
 * service closed them while they were idle, so that the error says nothing about its health.
 */
export function recordingStale(connect: buildConnector.connector): buildConnector.connector {
  return (options, settle) => {
    connect(options, (...outcome) => {
      if (outcome[1]) recordStale(outcome[1]);
      settle(...outcome);
    });
  };
}

/** Returns whether an error is that of a stale connection. */
export function isStale(error: Error): boolean {
  return staleFailures.has(error);
}

/** The listeners run before those of undici, which has no error of its own for a connection that is already destroyed. */
function recordStale(socket: Socket): void {
  let readBefore = 0;
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  const isIdle = (): boolean => readBefore > 0 && socket.bytesRead === readBefore;
  socket.write = (...args: unknown[]): boolean => {
    readBefore = socket.bytesRead;
    return write(...args);
  };
  socket.prependListener('end', () => {
    if (isIdle()) socket.destroy(CLOSED);
  });
  socket.prependListener('error', (error: Error) => {
    if (isIdle()) staleFailures.add(error);
  });
}
