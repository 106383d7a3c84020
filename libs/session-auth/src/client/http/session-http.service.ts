import type { Agent } from 'node:http';
import { HttpService } from '@nestjs/axios';
import axios, { type AxiosAdapter, type AxiosInstance } from 'axios';
import type { Connections } from './connections.js';
import { noReplyAt } from '../deadline.js';
import { type NoReply, NoReplyError, type Reply, UNREACHABLE } from './reply.js';
import { pooledAdapter, type SessionCall } from './pooled-adapter.js';
import type { ServiceRequest } from './service-request.js';

/** Agents that the application sets, and the adapter that uses them. */
export interface OwnAgents {
  readonly adapter: AxiosAdapter;
  readonly httpAgent: Agent | undefined;
  readonly httpsAgent: Agent | undefined;
}

/**
 * The `HttpService` that this module uses for its calls to the session service, and for nothing else. Inject it to add interceptors, or to set
 * agents on `axiosRef.defaults`. Its defaults are minimal: no proxy from the environment, no redirects, no transformations, and no status rejects.
 */
export class SessionHttpService extends HttpService {
  readonly #connections: Connections;
  #isPlain: boolean;

  /** @internal Created by Nest. */
  constructor(connections: Connections, agents: OwnAgents) {
    super(bareInstance(pooledAdapter(connections), agents));
    this.#connections = connections;
    this.#isPlain = !agents.httpAgent && !agents.httpsAgent;
  }

  /** The axios instance. Its reader may change it, so all later calls go through axios. */
  override get axiosRef(): HttpService['axiosRef'] {
    this.#isPlain = false;
    return super.axiosRef;
  }

  /** Sends a request: through axios if the application may have changed the instance, otherwise directly to the pool. Never rejects. @internal */
  send(request: ServiceRequest): Promise<Reply | NoReply> {
    return this.#isPlain ? this.#connections.exchange(request) : this.#sendThroughAxios(request);
  }

  /** Resolves at the deadline at the latest, even if an interceptor never settles. */
  #sendThroughAxios({ method, origin, path, headers, body, deadline, freshConnection }: ServiceRequest): Promise<Reply | NoReply> {
    return new Promise((resolve) => {
      deadline.onEnd((end) => resolve(noReplyAt(end)));
      if (deadline.ended) return;
      const call: SessionCall = { deadline, freshConnection };
      const config = { method, url: `${origin}${path}`, headers: headersOf(headers), ...call, ...(body !== null && { data: body }) };
      this.axiosRef.request<Buffer | undefined>(config).then(
        (response: unknown) => resolve(replyIn(response)),
        (error: unknown) => resolve(error instanceof NoReplyError ? error.outcome : UNREACHABLE),
      );
    });
  }
}

/** Returns the reply in a response that interceptors of the application may have changed. */
function replyIn(response: unknown): Reply | NoReply {
  if (typeof response !== 'object' || response === null) return UNREACHABLE;
  const { status, headers, data } = response as { status?: unknown; headers?: unknown; data?: unknown };
  if (typeof status !== 'number' || typeof headers !== 'object' || headers === null) return UNREACHABLE;
  return { status, headers: headers as Reply['headers'], body: Buffer.isBuffer(data) ? data : undefined };
}

/** axios merges its defaults into each request. Without most of them, a call costs a third. */
function bareInstance(pooled: AxiosAdapter, { adapter: withAgents, httpAgent, httpsAgent }: OwnAgents): AxiosInstance {
  const instance = axios.create();
  for (const option of Object.keys(instance.defaults)) Reflect.deleteProperty(instance.defaults, option);
  const adapter: AxiosAdapter = (config) => (config.httpAgent || config.httpsAgent ? withAgents(config) : pooled(config));
  const agents = { ...(httpAgent && { httpAgent }), ...(httpsAgent && { httpsAgent }) };
  Object.assign(instance.defaults, { adapter, headers: { common: {} }, maxRedirects: 0, proxy: false, validateStatus: null, ...agents });
  return instance;
}

function headersOf(flat: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let index = 0; index + 1 < flat.length; index += 2) headers[flat[index] ?? ''] = flat[index + 1] ?? '';
  return headers;
}
