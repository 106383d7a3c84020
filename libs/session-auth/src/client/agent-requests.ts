import http, { type Agent, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { ConnectionSettings, ServiceRequest } from './connection.js';
import { unavailable } from '../contract/outcome.js';
import {
  type Answer,
  BodyBuffer,
  isReadable,
  MAX_HEADER_BYTES,
  reportFailure,
  STALE_CONNECTION,
  UNREACHABLE,
} from './reply.js';

/** Agents that the application sets, for mTLS or a private network. */
export interface OwnAgents {
  readonly httpAgent?: Agent | undefined;
  readonly httpsAgent?: Agent | undefined;
}

/** Sends a request over node:http and an agent of the application, as `Connections` does over its own. */
export function exchangeOverAgent(
  { origin, path, method, headers, body, deadline, freshConnection }: ServiceRequest,
  { httpAgent, httpsAgent }: OwnAgents,
  { maxResponseBytes, connectionFailed }: Pick<ConnectionSettings, 'maxResponseBytes' | 'connectionFailed'>,
): Promise<Answer> {
  const [protocol, own] = origin.startsWith('https:') ? [https, httpsAgent] : [http, httpAgent];
  return new Promise<Answer>((settle) => {
    const agent = freshConnection ? withEmptyPool(own) : own;
    const options = { method, headers, agent, maxHeaderSize: MAX_HEADER_BYTES };
    const request = protocol.request(`${origin}${path}`, options);
    request.on('response', (reply) => readReply(reply, maxResponseBytes, settle));
    request.on('upgrade', (_reply, socket) => {
      settle(UNREACHABLE);
      socket.destroy();
    });
    request.on('error', (error) => {
      reportFailure(error, connectionFailed);
      settle(request.reusedSocket ? STALE_CONNECTION : UNREACHABLE);
    });
    deadline.onEnd((end) => {
      settle(unavailable(end));
      request.destroy();
    });
    request.end(body ?? undefined);
  }).catch(() => UNREACHABLE);
}

/** Reads a reply. Settles without its body if it must not be read, or is too long, and closes the connection. */
function readReply(reply: IncomingMessage, maxBytes: number, settle: (answer: Answer) => void): void {
  const { statusCode: status = 0, headers } = reply;
  const body = new BodyBuffer();
  const discard = (): void => {
    settle({ status, headers, body: undefined });
    reply.destroy();
  };
  reply.on('data', (chunk: Buffer) => {
    if (!body.append(chunk, maxBytes)) discard();
  });
  reply.on('end', () => settle({ status, headers, body: body.bytes }));
  // Node.js emits an error only to a listener; a runtime that emits it to none would end the process.
  reply.on('error', () => settle(UNREACHABLE));
  reply.on('close', () => settle(UNREACHABLE));
  if (!isReadable(headers, maxBytes)) discard();
}

/**
 * Returns an agent with an empty pool: it connects as that of the application, and never reuses a connection.
 * An own class of agent may have private fields, so that a copy of it would not work.
 */
function withEmptyPool(agent: Agent | undefined): Agent | false {
  if (!agent) return false;
  const unbounded = { keepAlive: false, maxSockets: Infinity, maxTotalSockets: Infinity };
  const pool = { ...unbounded, freeSockets: {}, sockets: {}, requests: {}, totalSocketCount: 0 };
  const createConnection: Agent['createConnection'] = (...args) => agent.createConnection(...args);
  return Object.create(agent, Object.getOwnPropertyDescriptors({ ...pool, createConnection })) as Agent;
}
