import type { Agent } from 'node:http';
import { HttpService } from '@nestjs/axios';
import axios, { type AxiosAdapter, type AxiosInstance } from 'axios';

/** The two ways to the session service. */
export interface SessionTransport {
  /** Over the built-in pool. */
  readonly pooled: AxiosAdapter;
  /** Over agents of the application, wherever a request names one. */
  readonly withAgents: AxiosAdapter;
  readonly httpAgent: Agent | undefined;
  readonly httpsAgent: Agent | undefined;
}

/**
 * The `HttpService` through which this module talks to the session service, and to nothing else. Inject it to add interceptors, or agents
 * on `axiosRef.defaults`. Its defaults are bare: no proxy from the environment, no redirect, no transformation, every status a reply.
 */
export class SessionHttpService extends HttpService {
  constructor(transport: SessionTransport) {
    super(bareInstance(transport));
  }
}

/** axios merges its defaults into each request: with nearly none of them a call costs a third. */
function bareInstance({ pooled, withAgents, httpAgent, httpsAgent }: SessionTransport): AxiosInstance {
  const instance = axios.create();
  for (const option of Object.keys(instance.defaults)) Reflect.deleteProperty(instance.defaults, option);
  const adapter: AxiosAdapter = (config) => (config.httpAgent || config.httpsAgent ? withAgents(config) : pooled(config));
  const agents = { ...(httpAgent && { httpAgent }), ...(httpsAgent && { httpsAgent }) };
  Object.assign(instance.defaults, { adapter, headers: {}, maxRedirects: 0, proxy: false, validateStatus: null, ...agents });
  return instance;
}
