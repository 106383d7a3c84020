import { ClientRequest, type Agent, type IncomingHttpHeaders } from 'node:http';
import axios, { AxiosHeaders, type AxiosAdapter, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import { NoReplyError, STALE_CONNECTION, UNREACHABLE } from './no-reply.js';
import type { SessionCall } from './pooled-adapter.js';
import { isReadable } from './reply.js';

/** axios's own adapter over node:http, under the same limits, for applications that bring their agents (mTLS, a private network). */
export function agentAdapter(maxResponseBytes: number): AxiosAdapter {
  const http = axios.getAdapter('http');
  return async (config) => {
    const { deadline, freshConnection } = config as InternalAxiosRequestConfig & Partial<SessionCall>;
    const abort = new AbortController();
    config.headers.set('User-Agent', false);
    deadline?.onEnd(() => abort.abort());
    try {
      const limited = { ...config, ...limitsOf(maxResponseBytes), ...(freshConnection && freshAgents(config)), signal: abort.signal };
      return readableOnly((await http(limited)) as AxiosResponse<Buffer>, maxResponseBytes);
    } catch (error) {
      throw new NoReplyError(axios.isAxiosError(error) && wasReused(error.request) ? STALE_CONNECTION : UNREACHABLE);
    }
  };
}

function limitsOf(maxContentLength: number) {
  return { maxContentLength, maxRedirects: 0, proxy: false, decompress: false, responseType: 'arraybuffer', validateStatus: null } as const;
}

function readableOnly(response: AxiosResponse<Buffer>, maxBytes: number): AxiosResponse<Buffer | undefined> {
  const headers = AxiosHeaders.from(response.headers as Record<string, string>).toJSON() as IncomingHttpHeaders;
  return isReadable(headers, maxBytes) ? response : { ...response, data: undefined };
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
