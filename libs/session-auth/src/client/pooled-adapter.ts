import axios, { type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import type { Dispatcher } from 'undici';
import type { CallFailure } from './call-failure.js';
import type { Connections } from './connections.js';
import { ReplyCollector } from './reply-collector.js';
import type { Reply } from './reply.js';
import type { SessionRequest } from './session-request.js';

/** An axios adapter over pooled undici connections. It resolves with every complete reply, whatever its status. */
export function pooledAdapter(connections: Connections, maxResponseBytes: number) {
  return (config: InternalAxiosRequestConfig): Promise<AxiosResponse<Buffer | undefined>> =>
    new Promise((resolve, reject: (failure: CallFailure) => void) => {
      const { deadline, freshConnection } = config as InternalAxiosRequestConfig & Partial<SessionRequest>;
      const settle = ({ status, headers, body }: Reply): void =>
        resolve({ status, statusText: '', headers: headers as Record<string, string>, data: body, config });
      const collector = new ReplyCollector(maxResponseBytes, settle, reject);
      deadline?.onEnd(() => collector.abort());
      const options = { ...target(config), method: methodOf(config), headers: headersOf(config), body: bodyOf(config) };
      if (freshConnection) connections.dispatchOnce(options, collector);
      else connections.dispatch(options, collector);
    });
}

function target(config: InternalAxiosRequestConfig): { origin: string; path: string } {
  const { origin, pathname, search } = new URL(axios.getUri(config));
  return { origin, path: `${pathname}${search}` };
}

function methodOf({ method = 'get' }: InternalAxiosRequestConfig): Dispatcher.HttpMethod {
  return method.toUpperCase();
}

/** Headers as undici takes them fastest: names and values in turn. */
function headersOf({ headers }: InternalAxiosRequestConfig): string[] {
  const flat: string[] = [];
  for (const [name, value] of Object.entries(headers)) if (value !== undefined && value !== null) flat.push(name, String(value));
  return flat;
}

function bodyOf({ data }: InternalAxiosRequestConfig): string | null {
  return typeof data === 'string' ? data : null;
}
