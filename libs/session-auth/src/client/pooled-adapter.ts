import axios, { type AxiosAdapter, type InternalAxiosRequestConfig } from 'axios';
import type { Connections } from './connections.js';
import { Deadline } from './deadline.js';
import { NoReplyError } from './reply.js';
import type { ServiceRequest } from './service-request.js';

/** Options of a request that axios passes to the adapter unchanged, in addition to its own. */
export type SessionCall = Pick<ServiceRequest, 'deadline' | 'freshConnection'>;

/** Deadline of a request that the application itself makes on this `HttpService`. */
const APPLICATION_REQUEST_MS = 10_000;

/**
 * Returns an axios adapter over the pooled connections. It sends each request as the interceptors left it.
 */
export function pooledAdapter(connections: Connections): AxiosAdapter {
  return async (config) => {
    const outcome = await connections.exchange(requestOf(config));
    if ('noReply' in outcome) throw new NoReplyError(outcome);
    const { status, headers, body } = outcome;
    return { status, statusText: '', headers: headers as Record<string, string>, data: body, config };
  };
}

function requestOf(config: InternalAxiosRequestConfig & Partial<SessionCall>): ServiceRequest {
  const { origin, pathname, search } = new URL(axios.getUri(config));
  const { method = 'get', deadline = new Deadline(APPLICATION_REQUEST_MS), freshConnection = false } = config;
  return {
    method: method.toUpperCase() as ServiceRequest['method'],
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
