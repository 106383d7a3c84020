import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from '@jest/globals';
import type { ServiceRequest } from '../../libs/session-auth/src/client/connections.js';
import { Deadline } from '../../libs/session-auth/src/client/deadline.js';

const open: (() => unknown)[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()));
});

/** Closes something after the test. */
export function closeLater(close: () => unknown): void {
  open.push(close);
}

interface Served {
  readonly server: Server;
  readonly port: number;
  readonly origin: string;
  readonly seen: readonly IncomingMessage[];
  readonly connections: () => number;
}

/** Starts a server, and returns its address and the requests that it receives. */
export async function serve(
  answer: RequestListener = (_request, response) => void response.end(),
): Promise<Served> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  }).listen(0, '127.0.0.1');
  let connections = 0;
  server.on('connection', () => (connections += 1));
  await once(server, 'listening');
  closeLater(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { server, port, origin: `http://127.0.0.1:${port}`, seen, connections: () => connections };
}

function startedDeadline(): Deadline {
  const deadline = new Deadline(60_000);
  closeLater(() => deadline.clear());
  return deadline;
}

export function requestTo(origin: string, request: Partial<ServiceRequest> = {}): ServiceRequest {
  const deadline = startedDeadline();
  return {
    method: 'GET',
    origin,
    path: '/',
    headers: {},
    body: null,
    deadline,
    freshConnection: false,
    ...request,
  };
}
