import { buildConnector, errors } from 'undici';

const failuresAfterUse = new WeakSet<Error>();

/** Connects as undici does, and remembers of a connection that fails whether it had served before. */
export function rememberingConnector(timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs });
  return (options, settle) => {
    connect(options, (...outcome) => {
      const socket = outcome[1];
      socket?.prependListener('error', (error: Error) => {
        if (socket.bytesRead > 0) failuresAfterUse.add(error);
      });
      settle(...outcome);
    });
  };
}

/** Whether a connection failed that had served before: a keep-alive connection that the service had closed meanwhile. */
export function wasReused(error: Error): boolean {
  if (failuresAfterUse.has(error)) return true;
  return error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0;
}
