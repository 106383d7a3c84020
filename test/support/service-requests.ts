import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from '@jest/globals';
import type { ServiceRequest } from '../../libs/session-auth/src/client/connection.js';
import { Deadline } from '../../libs/session-auth/src/client/deadline.js';
import type { Answer, Reply } from '../../libs/session-auth/src/client/reply.js';
import { type ApiKey, SessionClient } from '../../libs/session-auth/src/client/session-client.js';
import type { ReplyReports } from '../../libs/session-auth/src/client/user-details-verdict.js';
import type { ReadUser } from '../../libs/session-auth/src/contract/record/user-record.js';
import type { StatusMap } from '../../libs/session-auth/src/contract/status-outcomes.js';

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

export function requestTo(origin: string, request: Partial<ServiceRequest> = {}): ServiceRequest {
  const deadline = new Deadline(60_000);
  closeLater(() => deadline.clear());
  const plain = { method: 'GET', path: '/', headers: {}, body: null, freshConnection: false } as const;
  return { ...plain, origin, deadline, ...request };
}

/** The user of the replies that {@link reply} makes. */
export const USER = { username: 'ann', auth_token: 'token' };

export function reply(status: number, body = JSON.stringify(USER), headers: Reply['headers'] = {}): Reply {
  return { status, headers, body: Buffer.from(body) };
}

export const SILENT: ReplyReports = {
  occurred: () => undefined,
  attemptFailed: () => undefined,
  unlistedStatus: () => undefined,
};

interface ClientSetup {
  readonly baseUrl?: string;
  readonly apiKey?: ApiKey;
  readonly read?: ReadUser<object>;
  readonly reports?: ReplyReports;
  readonly statusMap?: StatusMap;
}

/** Returns a client whose requests get this answer, and those requests. Tokens have at most 5 characters. */
export function clientWith(
  answer: Answer,
  {
    baseUrl = 'http://service',
    apiKey = 'key',
    read = (json) => json,
    reports = SILENT,
    statusMap = {},
  }: ClientSetup = {},
): {
  readonly sent: readonly ServiceRequest[];
  readonly client: SessionClient<object>;
  readonly renewals: () => number;
} {
  const sent: ServiceRequest[] = [];
  let renewals = 0;
  const send = (request: ServiceRequest): Promise<Answer> => {
    sent.push(request);
    return Promise.resolve(answer);
  };
  const settings = { baseUrl, apiKey, statusMap, tokenEcho: 'deny', http: { maxTokenLength: 5 } } as const;
  const sender = { send, renew: () => void (renewals += 1) };
  const client = new SessionClient(sender, settings, read, reports);
  return { sent, client, renewals: () => renewals };
}
