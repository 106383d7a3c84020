import type { Socket } from 'node:net';

const staleFailures = new WeakSet<Error>();

/** Returns whether an error is that of a stale connection. */
export function isStale(error: Error): boolean {
  return staleFailures.has(error);
}

/**
 * Makes a connection record its error if it is stale: if it has carried a reply, and ends before the first
 * byte of the next. The service closed it while it was idle, so that the error says nothing about its health.
 * The listeners run before those of undici, which has no error of its own for a connection that is already
 * destroyed.
 */
export function recordStale(socket: Socket): void {
  let readBefore = 0;
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  const isIdle = (): boolean => readBefore > 0 && socket.bytesRead === readBefore;
  socket.write = (...args: unknown[]): boolean => {
    readBefore = socket.bytesRead;
    return write(...args);
  };
  socket.prependListener('error', (error: Error) => {
    if (isIdle()) staleFailures.add(error);
  });
}
