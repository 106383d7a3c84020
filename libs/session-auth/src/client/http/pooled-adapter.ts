import axios, { type AxiosAdapter, type InternalAxiosRequestConfig } from 'axios';
import type { Connections } from './connections.js';
import { Deadline } from '../deadline.js';
import { NoReplyError } from './reply.js';
import type { SessionRequest } from './session-request.js';

/** What axios is given beside its own options, and hands on to the adapter. */
export type SessionCall = Pick<SessionRequest, 'deadline' | 'freshConnection'>;

/** For a request that an application makes itself on this `HttpService`. */
const FOREIGN_REQUEST_MS = 10_000;

/** An axios adapter over the pooled connections: what interceptors have made of a request is sent as they left it. */
export function pooledAdapter(connections: Connections): AxiosAdapter {
  return async (config) => {
    const answer = await connections.exchange(requestOf(config));
    if ('noReply' in answer) throw new NoReplyError(answer);
    const { status, headers, body } = answer;
    return { status, statusText: '', headers: headers as Record<string, string>, data: body, config };
  };
}

function requestOf(config: InternalAxiosRequestConfig & Partial<SessionCall>): SessionRequest {
  const { origin, pathname, search } = new URL(axios.getUri(config));
  const { method = 'get', deadline = new Deadline(FOREIGN_REQUEST_MS), freshConnection = false } = config;
  return {
    method: method.toUpperCase() as SessionRequest['method'],
    origin,
    path: `${pathname}${search}`,
    headers: Object.entries(config.headers).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [name, String(value)],
    ),
    body: typeof config.data === 'string' ? config.data : null,
    deadline,
    freshConnection,
  };
}
