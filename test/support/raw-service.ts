import { EventEmitter, once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** What a raw service does when the head of a request is there; `head` is the request's first line and headers. */
export type RawScript = (socket: Socket, head: string) => void;

/** A listener that answers with bytes, well-formed or not, on a free loopback port. */
export interface RawService {
  readonly url: string;
  /** Connections that were opened to it. */
  connections(): number;
  /** Resolves when no connection is open. */
  idle(): Promise<void>;
  /** Request heads that reached it. */
  requests(): number;
  close(): Promise<void>;
}

/** Starts a listener that runs the script for each request. */
export async function startRawService(script: RawScript): Promise<RawService> {
  const sockets = new Set<Socket>();
  const counts = { connections: 0, requests: 0 };
  const closings = new EventEmitter();
  const server = createServer((socket) => {
    counts.connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      closings.emit('closing');
    });
    onEachHead(socket, (head) => {
      counts.requests += 1;
      script(socket, head);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => counts.connections,
    idle: async () => {
      while (sockets.size > 0) await once(closings, 'closing');
    },
    requests: () => counts.requests,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Answers with these bytes and ends the connection. */
export function bytes(...lines: string[]): RawScript {
  return (socket) => void socket.end(Buffer.from(lines.join('\r\n'), 'latin1'));
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
