import http, { type Agent, ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import axios, { type AxiosAdapter, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import { readBody } from './body.js';
import type { SessionCall } from './pooled-adapter.js';
import { NoReplyError, STALE_CONNECTION, UNREACHABLE } from './reply.js';

/** A stream, because axios keeps a list of all chunks of a body that it collects, however small they are. */
const LIMITS = {
  responseType: 'stream',
  maxContentLength: -1,
  maxRedirects: 0,
  proxy: false,
  decompress: false,
  validateStatus: null,
} as const;

/** axios's own adapter over node:http, under the same limits, for applications that bring their agents (mTLS, a private network). */
export function agentAdapter(maxResponseBytes: number): AxiosAdapter {
  const http = axios.getAdapter('http');
  return async (config) => {
    const { deadline, freshConnection } = config as InternalAxiosRequestConfig & Partial<SessionCall>;
    const abort = new AbortController();
    config.headers.set('User-Agent', false);
    const giveUp = (): void => abort.abort();
    deadline?.onEnd(giveUp);
    try {
      const ours = { ...LIMITS, transport: agentTransport(giveUp), signal: abort.signal };
      const limited = { ...config, ...ours, ...(freshConnection && freshAgents(config)) };
      const response = (await http(limited)) as AxiosResponse<IncomingMessage>;
      deadline?.onEnd(() => response.data.destroy());
      return { ...response, data: await readBody(response.data, maxResponseBytes) };
    } catch (error) {
      throw new NoReplyError(axios.isAxiosError(error) && wasReused(error.request) ? STALE_CONNECTION : UNREACHABLE);
    }
  };
}

/** Whether a request failed on a connection that had served before, without a byte of its own reply. */
function wasReused(request: unknown): boolean {
  return request instanceof ClientRequest && request.reusedSocket && !('res' in request && request.res);
}

/** The application's agents with an empty pool: they connect as it wants, and never reuse. */
function freshAgents({ httpAgent, httpsAgent }: InternalAxiosRequestConfig) {
  return { httpAgent: withEmptyPool(httpAgent as Agent | undefined), httpsAgent: withEmptyPool(httpsAgent as Agent | undefined) };
}

function withEmptyPool(agent: Agent | undefined): Agent | undefined {
  if (!agent) return undefined;
  const unbounded = { keepAlive: false, maxSockets: Infinity, maxTotalSockets: Infinity };
  const pool = { ...unbounded, freeSockets: {}, sockets: {}, requests: {}, totalSocketCount: 0 };
  const createConnection: Agent['createConnection'] = (...args) => agent.createConnection(...args);
  return Object.create(agent, Object.getOwnPropertyDescriptors({ ...pool, createConnection })) as Agent;
}

/** What axios takes for `node:http` or `node:https`. */
export interface AgentTransport {
  request(options: RequestOptions, onReply: (reply: http.IncomingMessage) => void): ClientRequest;
}

/** node:http and node:https. Calls `refuse` for a switch of protocols, which ends a request there without a reply and without an error. */
export function agentTransport(refuse: () => void): AgentTransport {
  return {
    request(options, onReply) {
      const request = (options.protocol === 'https:' ? https : http).request(options, onReply);
      return request.on('upgrade', (_reply, socket) => {
        socket.destroy();
        refuse();
      });
    },
  };
}
