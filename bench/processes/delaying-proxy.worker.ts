import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { serve } from './serve.js';

/**
 * Sends what a session service answers later, as a network does: requests pass at once, and each chunk of a
 * reply after `delayMs`.
 */
function forward(client: Socket, upstream: Socket, delayMs: number): void {
  client.on('data', (chunk) => upstream.write(chunk));
  upstream.on('data', (chunk) => setTimeout(() => client.write(chunk), delayMs));
  for (const [socket, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => other.destroy());
  }
}

const handlers = {
  /** Starts listening; the answer is the URL. */
  start: async ({ url, delayMs }: { url: string; delayMs: number }): Promise<string> => {
    const { hostname, port } = new URL(url);
    const server = createServer((client) => forward(client, connect(Number(port), hostname), delayMs));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  },
};

export type DelayingProxyApi = typeof handlers;
serve(handlers);
