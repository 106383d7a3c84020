import type { Agent } from 'node:http';
import { HttpService } from '@nestjs/axios';
import axios, { type AxiosAdapter, type AxiosInstance } from 'axios';
import { agentAdapter } from './agent-adapter.js';
import type { Connections, ConnectionSettings } from './connections.js';
import { noReplyAt } from './deadline.js';
import { type NoReply, NoReplyError, type Reply, UNREACHABLE } from './reply.js';
import { pooledAdapter, type SessionCall } from './pooled-adapter.js';
import type { ServiceRequest } from './service-request.js';
import { SESSION_HTTP } from './session-http.service.js';

/** Agents that the application sets, and the adapter that uses them. */
export interface OwnAgents {
  readonly adapter: AxiosAdapter;
  readonly httpAgent: Agent | undefined;
  readonly httpsAgent: Agent | undefined;
}

/** The implementation of `SessionHttpService`. Loaded at its first use, because axios takes long to load. */
export class AxiosHttpService extends HttpService {
  readonly [SESSION_HTTP] = true;
  /** Whether the application may have changed the instance, so that all later calls go through axios. */
  isUsed: boolean;

  constructor(connections: Connections, agents: OwnAgents) {
    super(bareInstance(pooledAdapter(connections), agents));
    this.isUsed = Boolean(agents.httpAgent ?? agents.httpsAgent);
  }

  /** The axios instance. Its reader may change it. */
  override get axiosRef(): HttpService['axiosRef'] {
    this.isUsed = true;
    return super.axiosRef;
  }

  /**
   * Sends a request through axios. Never rejects. Resolves at the deadline at the latest, even if an
   * interceptor never settles.
   */
  send({
    method,
    origin,
    path,
    headers,
    body,
    deadline,
    freshConnection,
  }: ServiceRequest): Promise<Reply | NoReply> {
    return new Promise((resolve) => {
      deadline.onEnd((end) => resolve(noReplyAt(end)));
      if (deadline.ended) return;
      const call: SessionCall = { deadline, freshConnection };
      const config = {
        method,
        url: `${origin}${path}`,
        headers: headersOf(headers),
        ...call,
        ...(body !== null && { data: body }),
      };
      this.axiosRef.request<Buffer | undefined>(config).then(
        (response: unknown) => resolve(replyIn(response)),
        (error: unknown) => resolve(error instanceof NoReplyError ? error.outcome : UNREACHABLE),
      );
    });
  }
}

/** Creates the service of a registration, with the agents that its options set. */
export function createAxiosHttpService(
  connections: Connections,
  {
    maxResponseBytes,
    tlsFailed,
    httpAgent,
    httpsAgent,
  }: Omit<OwnAgents, 'adapter'> & Pick<ConnectionSettings, 'maxResponseBytes' | 'tlsFailed'>,
): AxiosHttpService {
  return new AxiosHttpService(connections, {
    adapter: agentAdapter(maxResponseBytes, tlsFailed),
    httpAgent,
    httpsAgent,
  });
}

/** Returns the reply in a response that interceptors of the application may have changed. */
function replyIn(response: unknown): Reply | NoReply {
  if (typeof response !== 'object' || response === null) return UNREACHABLE;
  const { status, headers, data } = response as { status?: unknown; headers?: unknown; data?: unknown };
  if (typeof status !== 'number' || typeof headers !== 'object' || headers === null) return UNREACHABLE;
  return { status, headers: headers as Reply['headers'], body: Buffer.isBuffer(data) ? data : undefined };
}

/** axios merges its defaults into each request. Without most of them, a call costs a third. */
function bareInstance(
  pooled: AxiosAdapter,
  { adapter: withAgents, httpAgent, httpsAgent }: OwnAgents,
): AxiosInstance {
  const instance = axios.create();
  for (const option of Object.keys(instance.defaults)) Reflect.deleteProperty(instance.defaults, option);
  const adapter: AxiosAdapter = (config) =>
    config.httpAgent || config.httpsAgent ? withAgents(config) : pooled(config);
  const agents = { ...(httpAgent && { httpAgent }), ...(httpsAgent && { httpsAgent }) };
  Object.assign(instance.defaults, {
    adapter,
    headers: { common: {} },
    maxRedirects: 0,
    proxy: false,
    validateStatus: null,
    ...agents,
  });
  return instance;
}

function headersOf(flat: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let index = 0; index + 1 < flat.length; index += 2) headers[flat[index] ?? ''] = flat[index + 1] ?? '';
  return headers;
}
