import { Socket } from 'node:net';
import type { AxiosProxyConfig } from 'axios';
// By its file, because Bun resolves 'undici' to its own one, whose Pool has no dispatch().
import { Agent, buildConnector, Client, Pool, ProxyAgent, type Dispatcher } from 'undici/index.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { Deadline } from './deadline.js';
import { type NoReply, type Reply, UNREACHABLE } from './reply.js';
import { ReplyCollector } from './reply-collector.js';
import type { ServiceRequest } from './service-request.js';
import type { TlsFailed } from './tls-failure.js';
import { acceptContinue } from './interim-replies.js';
import { recordStale } from './stale-connection.js';

/** Settings and limits of the connections to the session service. */
export interface ConnectionSettings {
  readonly origin: string;
  readonly maxConnections: number;
  /** Milliseconds that connecting may take: no longer than the check that waits for the connection. */
  readonly connectTimeoutMs: number;
  readonly maxResponseBytes: number;
  readonly proxy: AxiosProxyConfig | undefined;
  readonly tlsFailed?: TlsFailed;
}

/** Option that undici passes to the pool factory of a `ProxyAgent`. */
interface ProxyConnection {
  readonly connect?: buildConnector.connector;
}

/** Maximum bytes of the headers of a reply. One with more is not a valid reply (our decision). */
const MAX_HEADER_BYTES = 16_384;

/** Minimum milliseconds between two renewals of the pool. */
const RENEW_PAUSE_MS = 1_000;

const NOT_UNDICI =
  "SessionAuthModule: 'undici/index.js' is not the npm package undici: its Pool has no dispatch(), so no call can be sent. " +
  'Configure the runtime or the bundler to resolve it to node_modules.';

/** Options of undici. Its own timeouts are off: the deadline of the call is the only one. */
const LIMITS = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES };

/** Connections to the session service: pooled ones for checks, a new one for each sign-in and sign-out. */
export class Connections {
  readonly #settings: ConnectionSettings;
  readonly #connect: buildConnector.connector;
  /**
   * One connector for all calls, so that TLS sessions are resumed. The deadline of the call limits the
   * connection.
   */
  readonly #connectFresh = buildConnector({ timeout: 0 });
  #pooled: Dispatcher;
  #renewedAt = -Infinity;
  #otherOrigins: Dispatcher | undefined;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.#connect = prepared(buildConnector({ timeout: settings.connectTimeoutMs }));
    this.#pooled = this.#newPool();
    if (typeof this.#pooled.dispatch !== 'function') throw new InvalidConfigurationError(NOT_UNDICI);
  }

  /**
   * Sends a request. Resolves with the complete reply of any status, or with the reason why there is none.
   * Never rejects.
   */
  exchange({
    origin,
    path,
    method,
    headers,
    body,
    deadline,
    freshConnection,
  }: ServiceRequest): Promise<Reply | NoReply> {
    return new Promise((resolve) => {
      const collector = new ReplyCollector(
        this.#settings.maxResponseBytes,
        resolve,
        this.#settings.tlsFailed,
      );
      deadline.onEnd((end) => collector.expire(end));
      if (deadline.ended) return;
      const options = { origin, path, method, headers: headers as string[], body };
      try {
        if (freshConnection) this.#dispatchOnce(options, collector, deadline);
        else this.#dispatcherTo(origin).dispatch(options, collector);
      } catch {
        resolve(UNREACHABLE);
      }
    });
  }

  /**
   * Replaces the pool for later calls, at most once a second. Existing connections close when their calls
   * complete.
   */
  renew(): void {
    const now = performance.now();
    if (now - this.#renewedAt < RENEW_PAUSE_MS) return;
    this.#renewedAt = now;
    const former = this.#pooled;
    this.#pooled = this.#newPool();
    former.close().catch(() => undefined);
  }

  /** Closes all pooled connections, and aborts their calls. */
  async close(): Promise<void> {
    await Promise.all([this.#pooled.destroy(), this.#otherOrigins?.destroy()]);
  }

  #newPool(): Dispatcher {
    const { origin, proxy, maxConnections } = this.#settings;
    return proxy
      ? this.#proxyAgent(proxy)
      : new Pool(origin, { ...LIMITS, connections: maxConnections, connect: this.#connect });
  }

  /** An interceptor of the application may send a request to another origin. */
  #dispatcherTo(origin: string): Dispatcher {
    if (origin === this.#settings.origin || this.#settings.proxy) return this.#pooled;
    return (this.#otherOrigins ??= new Agent({
      ...LIMITS,
      connections: this.#settings.maxConnections,
      connect: this.#connect,
    }));
  }

  /**
   * Sends a request on its own connection, which closes after the reply or at the deadline, even while it is
   * connecting.
   */
  #dispatchOnce(
    options: Dispatcher.DispatchOptions & { origin: string },
    handler: ReplyCollector,
    deadline: Deadline,
  ): void {
    const { proxy } = this.#settings;
    const connect = prepared(closingAt(deadline, this.#connectFresh));
    const connection = proxy ? this.#proxyAgent(proxy) : new Client(options.origin, { ...LIMITS, connect });
    deadline.onEnd(() => void connection.destroy().catch(() => undefined));
    connection.dispatch({ ...options, reset: true }, handler);
    connection.close().catch(() => undefined);
  }

  #proxyAgent({ protocol = 'http', host, port, auth }: AxiosProxyConfig): ProxyAgent {
    const uri = `${protocol.replace(/:$/, '')}://${host}:${port}`;
    const token = auth && `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
    const limits = { ...LIMITS, connections: this.#settings.maxConnections };
    // Without a tunnel, undici does not pass these limits to the pool of the proxy.
    const factory = (origin: string | URL, { connect, ...options }: ProxyConnection): Pool =>
      new Pool(origin, { ...limits, ...options, ...(connect && { connect: prepared(connect) }) });
    return new ProxyAgent({ ...limits, uri, ...(token && { token }), factory, proxyTunnel: false });
  }
}

/** A connector that returns its socket, as those of undici do, although their types do not say so. */
type SocketConnector = (...connection: Parameters<buildConnector.connector>) => unknown;

/**
 * Returns a connector that closes its connection at a deadline, because undici does not close one that is
 * still connecting.
 */
function closingAt(deadline: Deadline, connect: SocketConnector): buildConnector.connector {
  return (options, settle) => {
    const socket = connect(options, settle);
    if (socket instanceof Socket) deadline.onEnd(() => socket.destroy());
  };
}

/** Returns a connector whose sockets accept `100 Continue`, and record whether they are stale. */
export function prepared(connect: buildConnector.connector): buildConnector.connector {
  return (options, settle) => {
    connect(options, (...outcome) => {
      const [, socket] = outcome;
      if (socket) {
        acceptContinue(socket);
        recordStale(socket);
      }
      settle(...outcome);
    });
  };
}
