import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * Handles a request of a raw listener after its head has arrived; `head` is the request's first line and
 * headers.
 */
type RawScript = (socket: Socket, head: string) => void;

/** A listener that answers with bytes, well-formed or not, on a free loopback port. */
export interface RawListener {
  readonly url: string;
  /** Connections that were opened to it. */
  connections(): number;
  close(): Promise<void>;
}

/** Starts a listener that runs the script for each request. */
export async function startRawListener(script: RawScript): Promise<RawListener> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    onEachHead(socket, (head) => script(socket, head));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function onEachHead(socket: Socket, take: (head: string) => void): void {
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
    for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
      const head = received.slice(0, end);
      received = received.slice(end + 4);
      take(head);
    }
  });
}
