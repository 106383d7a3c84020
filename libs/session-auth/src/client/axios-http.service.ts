import { HttpService } from '@nestjs/axios';
import axios, { type AxiosAdapter, type AxiosInstance, type InternalAxiosRequestConfig } from 'axios';
import { type Unavailable, unavailable } from '../contract/outcome.js';
import type { OwnAgents } from './agent-requests.js';
import type { ServiceRequest } from './connection.js';
import { Deadline, holdProcess, inTime } from './deadline.js';
import { type Answer, type Reply, UNREACHABLE } from './reply.js';
import { SESSION_HTTP } from './session-http.service.js';

/** Options of a request that axios passes to the adapter unchanged, in addition to its own. */
type SessionCall = Pick<ServiceRequest, 'deadline' | 'freshConnection'>;

/** Deadline of a request that the application itself makes on this `HttpService`. */
const APPLICATION_REQUEST_MS = 10_000;

/** Sends a request as the interceptors left it. */
type Send = (request: ServiceRequest, agents: OwnAgents) => Promise<Answer>;

/** The reason for a missing reply as an error, for the interceptors of an application. */
export class NoReplyError extends Error {
  override readonly name = 'NoReplyError';
  readonly outcome: Unavailable;

  constructor(outcome: Unavailable) {
    super(`The call to the session service brought no reply: ${outcome.reason}`);
    this.outcome = outcome;
  }
}

/** The implementation of `SessionHttpService`. Loaded at its first use, because axios takes long to load. */
export class AxiosHttpService extends HttpService {
  readonly [SESSION_HTTP] = true;
  readonly #used: () => void;

  /** `used`: called when the axios instance is read, whose reader may change it. */
  constructor(agents: OwnAgents, send: Send, used: () => void) {
    super(bareInstance(adapterOver(send), agents));
    this.#used = used;
  }

  override get axiosRef(): HttpService['axiosRef'] {
    this.#used();
    return super.axiosRef;
  }

  /**
   * Sends a request through axios. Never rejects. Resolves at the deadline at the latest, even if an
   * interceptor never settles.
   */
  async send({ origin, path, body, headers, ...call }: ServiceRequest): Promise<Answer> {
    const { ended } = call.deadline;
    if (ended) return unavailable(ended);
    const config = { ...call, url: `${origin}${path}`, headers: { ...headers }, data: body ?? undefined };
    const answer = this.axiosRef
      .request(config)
      .then(replyIn, (error: unknown) => (error instanceof NoReplyError ? error.outcome : UNREACHABLE));
    return inTime(call.deadline, answer);
  }
}

/** Returns the reply in a response that interceptors of the application may have changed. */
function replyIn(response: unknown): Answer {
  const { status, headers, data } = Object(response) as Readonly<Record<string, unknown>>;
  if (typeof status !== 'number' || typeof headers !== 'object' || headers === null) return UNREACHABLE;
  return { status, headers: headers as Reply['headers'], body: Buffer.isBuffer(data) ? data : undefined };
}

/** axios merges its defaults into each request. Without most of them, a call costs a third. */
function bareInstance(adapter: AxiosAdapter, { httpAgent, httpsAgent }: OwnAgents): AxiosInstance {
  const instance = axios.create();
  for (const option of Object.keys(instance.defaults)) Reflect.deleteProperty(instance.defaults, option);
  Object.assign(instance.defaults, {
    adapter,
    headers: { common: {} },
    maxRedirects: 0,
    proxy: false,
    validateStatus: null,
    ...(httpAgent && { httpAgent }),
    ...(httpsAgent && { httpsAgent }),
  });
  return instance;
}

function adapterOver(send: Send): AxiosAdapter {
  return async (config: InternalAxiosRequestConfig & Partial<SessionCall>) => {
    const { origin, pathname, search } = new URL(axios.getUri(config));
    const {
      method = 'get',
      deadline = new Deadline(APPLICATION_REQUEST_MS),
      freshConnection = false,
    } = config;
    const { httpAgent, httpsAgent } = config as OwnAgents;
    const sent = send(
      {
        method: method.toUpperCase() as ServiceRequest['method'],
        origin,
        path: `${pathname}${search}`,
        headers: fieldsOf(config.headers),
        body: typeof config.data === 'string' ? config.data : null,
        deadline,
        freshConnection,
      },
      { httpAgent, httpsAgent },
    );
    // A call of the library may be one in the background.
    const answer = await (config.deadline ? sent : holdProcess(() => sent));
    if (!('status' in answer)) throw new NoReplyError(answer);
    const { status, headers, body } = answer;
    return { status, statusText: '', headers: headers as Record<string, string>, data: body, config };
  };
}

/** Returns the headers of a request. Interceptors remove one by `null` or `undefined`. */
function fieldsOf(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const fields = Object.entries(headers).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(fields.map(([name, value]) => [name, String(value)]));
}
