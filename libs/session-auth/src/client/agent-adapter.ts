import type { Agent } from 'node:http';
import axios, { AxiosHeaders, type AxiosAdapter, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import { CallFailure } from './call-failure.js';
import { isReadable } from './reply.js';
import type { SessionRequest } from './session-request.js';

/** axios's own adapter over node:http, under the same limits, for applications that bring their agents (mTLS, a private network). */
export function agentAdapter(maxResponseBytes: number): AxiosAdapter {
  const http = axios.getAdapter('http');
  return async (config) => {
    const { deadline, freshConnection } = config as InternalAxiosRequestConfig & Partial<SessionRequest>;
    const abort = new AbortController();
    const stop = deadline?.onEnd(() => abort.abort());
    try {
      const limited = { ...config, ...limitsOf(maxResponseBytes), ...(freshConnection && freshAgents(config)), signal: abort.signal };
      return readableOnly((await http(limited)) as AxiosResponse<Buffer>, maxResponseBytes);
    } catch {
      throw new CallFailure('unreachable');
    } finally {
      stop?.();
    }
  };
}

function limitsOf(maxContentLength: number) {
  return { maxContentLength, maxRedirects: 0, proxy: false, decompress: false, responseType: 'arraybuffer', validateStatus: null } as const;
}

function readableOnly(response: AxiosResponse<Buffer>, maxBytes: number): AxiosResponse<Buffer | undefined> {
  const headers = AxiosHeaders.from(response.headers as Record<string, string>).toJSON() as Record<string, string>;
  return isReadable(headers, maxBytes) ? response : { ...response, data: undefined };
}

/** The caller's agents with an empty pool: they connect as he wants, and never reuse. */
function freshAgents({ httpAgent, httpsAgent }: InternalAxiosRequestConfig) {
  return { httpAgent: withEmptyPool(httpAgent as Agent | undefined), httpsAgent: withEmptyPool(httpsAgent as Agent | undefined) };
}

function withEmptyPool(agent: Agent | undefined): Agent | undefined {
  if (!agent) return undefined;
  const pool = { keepAlive: false, freeSockets: {}, sockets: {}, requests: {}, totalSocketCount: 0 };
  return Object.create(agent, Object.getOwnPropertyDescriptors(pool)) as Agent;
}
