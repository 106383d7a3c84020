import http, { type Agent, ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import axios, { type AxiosAdapter, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import { readBody } from './bounded-body.js';
import type { SessionCall } from './pooled-adapter.js';
import { NoReplyError, STALE_CONNECTION, UNREACHABLE } from './reply.js';
import { reportTlsFailure, type TlsFailed } from './tls-failure.js';

/** Reads the body as a stream, because axios otherwise keeps a list of all chunks, however small they are. */
const LIMITS = {
  responseType: 'stream',
  maxContentLength: -1,
  maxRedirects: 0,
  proxy: false,
  decompress: false,
  validateStatus: null,
} as const;

/**
 * Returns axios's own adapter over node:http with the same limits, for applications that set agents (mTLS, a
 * private network).
 */
export function agentAdapter(maxResponseBytes: number, tlsFailed?: TlsFailed): AxiosAdapter {
  const http = axios.getAdapter('http');
  return async (config) => {
    const { deadline, freshConnection } = config as InternalAxiosRequestConfig & Partial<SessionCall>;
    const abort = new AbortController();
    config.headers.set('User-Agent', false);
    const cancel = (): void => abort.abort();
    deadline?.onEnd(cancel);
    try {
      const limits = { ...LIMITS, transport: agentTransport(cancel), signal: abort.signal };
      const limited = { ...config, ...limits, ...(freshConnection && freshAgents(config)) };
      const response = (await http(limited)) as AxiosResponse<IncomingMessage>;
      return { ...response, data: await readBody(response.data, maxResponseBytes) };
    } catch (error) {
      reportTlsFailure(error, tlsFailed);
      throw new NoReplyError(
        axios.isAxiosError(error) && wasReused(error.request) ? STALE_CONNECTION : UNREACHABLE,
      );
    }
  };
}

/** Returns whether a request failed on a reused connection, before the first byte of its reply. */
function wasReused(request: unknown): boolean {
  return request instanceof ClientRequest && request.reusedSocket && !('res' in request && request.res);
}

/**
 * Returns the application's agents with empty pools: they connect as configured, and never reuse a
 * connection.
 */
function freshAgents({ httpAgent, httpsAgent }: InternalAxiosRequestConfig) {
  return {
    httpAgent: withEmptyPool(httpAgent as Agent | undefined),
    httpsAgent: withEmptyPool(httpsAgent as Agent | undefined),
  };
}

function withEmptyPool(agent: Agent | undefined): Agent | undefined {
  if (!agent) return undefined;
  const unbounded = { keepAlive: false, maxSockets: Infinity, maxTotalSockets: Infinity };
  const pool = { ...unbounded, freeSockets: {}, sockets: {}, requests: {}, totalSocketCount: 0 };
  const createConnection: Agent['createConnection'] = (...args) => agent.createConnection(...args);
  return Object.create(agent, Object.getOwnPropertyDescriptors({ ...pool, createConnection })) as Agent;
}

/** The `transport` option of axios, in place of `node:http` or `node:https`. */
interface AgentTransport {
  request(options: RequestOptions, onReply: (reply: http.IncomingMessage) => void): ClientRequest;
}

/**
 * Returns a transport over node:http and node:https. Calls `onUpgrade` on a switch of protocols, which causes
 * neither a reply nor an error.
 */
function agentTransport(onUpgrade: () => void): AgentTransport {
  return {
    request(options, onReply) {
      const request = (options.protocol === 'https:' ? https : http).request(options, onReply);
      return request.on('upgrade', (_reply, socket) => {
        socket.destroy();
        onUpgrade();
      });
    },
  };
}
