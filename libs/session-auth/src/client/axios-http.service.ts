import { HttpService } from '@nestjs/axios';
import axios, {
  type AxiosAdapter,
  type AxiosInstance,
  type AxiosRequestConfig,
  type InternalAxiosRequestConfig,
} from 'axios';
import { fieldsOf, type OwnAgents } from './agent-requests.js';
import type { ServiceRequest } from './connections.js';
import { Deadline, inTime, noReplyAt } from './deadline.js';
import { type NoReply, type Reply, UNREACHABLE } from './reply.js';
import { SESSION_HTTP } from './session-http.service.js';

/** Options of a request that axios passes to the adapter unchanged, in addition to its own. */
type SessionCall = Pick<ServiceRequest, 'deadline' | 'freshConnection'>;

/** Deadline of a request that the application itself makes on this `HttpService`. */
const APPLICATION_REQUEST_MS = 10_000;

/** The sender below the axios instance. */
interface Sender {
  /** Sends a request as the interceptors left it. */
  exchange(request: ServiceRequest, agents: OwnAgents): Promise<Reply | NoReply>;
  /** Called when the axios instance is read: its reader may change it. */
  onUse(): void;
}

/** {@link NoReply} as an error, for the interceptors of an application. */
export class NoReplyError extends Error {
  override readonly name = 'NoReplyError';
  /** Outcome of the call. */
  readonly outcome: NoReply;

  constructor(outcome: NoReply) {
    super(`The call to the session service brought no reply: ${outcome.noReply}`);
    this.outcome = outcome;
  }
}

/** The implementation of `SessionHttpService`. Loaded at its first use, because axios takes long to load. */
export class AxiosHttpService extends HttpService {
  readonly [SESSION_HTTP] = true;
  readonly #sender: Sender;

  constructor(agents: OwnAgents, sender: Sender) {
    super(bareInstance(adapterOver(sender), agents));
    this.#sender = sender;
  }

  /** The axios instance. */
  override get axiosRef(): HttpService['axiosRef'] {
    this.#sender.onUse();
    return super.axiosRef;
  }

  /**
   * Sends a request through axios. Never rejects. Resolves at the deadline at the latest, even if an
   * interceptor never settles.
   */
  async send(request: ServiceRequest): Promise<Reply | NoReply> {
    const { method, origin, path, headers, body, deadline, freshConnection } = request;
    if (deadline.ended) return noReplyAt(deadline.ended);
    const call: SessionCall = { deadline, freshConnection };
    const config: AxiosRequestConfig & SessionCall = {
      method,
      url: `${origin}${path}`,
      headers: fieldsOf(headers),
      ...(body !== null && { data: body }),
      ...call,
    };
    const answer = this.axiosRef
      .request(config)
      .then(replyIn, (error: unknown) => (error instanceof NoReplyError ? error.outcome : UNREACHABLE));
    return inTime(deadline, answer);
  }
}

/** Returns the reply in a response that interceptors of the application may have changed. */
function replyIn(response: unknown): Reply | NoReply {
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

/** Returns an axios adapter that sends each request as the interceptors left it. */
function adapterOver({ exchange }: Pick<Sender, 'exchange'>): AxiosAdapter {
  return async (config) => {
    const { httpAgent, httpsAgent } = config as OwnAgents;
    const outcome = await exchange(requestOf(config), { httpAgent, httpsAgent });
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
