import type { IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import type { AxiosProxyConfig } from 'axios';
// By its file, because Bun resolves 'undici' to its own one, whose Client has no dispatch().
import { buildConnector, Client, ProxyAgent, type Dispatcher } from 'undici/index.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import { unavailable } from '../contract/outcome.js';
import type { Deadline } from './deadline.js';
import {
  type Answer,
  BodyBuffer,
  isReadable,
  MAX_HEADER_BYTES,
  type Reply,
  reportFailure,
  STALE_CONNECTION,
  type ConnectionFailed,
  UNREACHABLE,
} from './reply.js';

/** One request of the interface, complete with headers and body. */
export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** Path, including the path of the base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly deadline: Deadline;
  /**
   * Use a new connection. A sign-in or sign-out is never retried, so it must not use one that the service may
   * just have closed.
   */
  readonly freshConnection: boolean;
}

/** Limits of the connections to the session service. */
export interface ConnectionSettings {
  /** Maximum number of connections that are kept, for each origin. A call beyond them has one of its own. */
  readonly maxConnections: number;
  readonly maxResponseBytes: number;
  readonly proxy: AxiosProxyConfig | undefined;
  readonly connectionFailed?: ConnectionFailed;
}

const SWITCHING_PROTOCOLS = 101;
/** Maximum number of interim replies (1xx) of a call (our decision). */
const MAX_INTERIM_REPLIES = 100;

/** Minimum milliseconds between two renewals of the connections. */
const RENEW_PAUSE_MS = 1_000;

const NOT_UNDICI =
  "SessionAuthModule: 'undici/index.js' is not the npm package undici: its Client has no dispatch(), so no call can be sent. " +
  'Configure the runtime or the bundler to resolve it to node_modules.';

/** Options of undici. Its own timeouts are off: the deadline of the call is the only one. */
const LIMITS = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES };

/** A connector that returns its socket, as those of undici do, although their types do not say so. */
type Connector = (...connection: Parameters<buildConnector.connector>) => unknown;

type Settle = (answer: Answer) => void;

/** Connections to the session service: kept ones for checks, a new one for each sign-in and sign-out. */
export class Connections {
  readonly #settings: ConnectionSettings;
  /** One for all connections, so that TLS sessions are resumed. The deadlines of the calls limit it. */
  readonly #connect: Connector = buildConnector({ timeout: 0 });
  /** By origin: interceptors of the application may change it. */
  readonly #kept = new Map<string, KeptConnections>();
  #renewedAt = -Infinity;

  constructor(settings: ConnectionSettings) {
    if (typeof Client.prototype.dispatch !== 'function') throw new InvalidConfigurationError(NOT_UNDICI);
    this.#settings = settings;
  }

  /**
   * Sends a request. Resolves with the complete reply of any status, or with the reason why there is none.
   * Never rejects.
   */
  exchange(request: ServiceRequest): Promise<Answer> {
    return new Promise((settle) => {
      const { origin, deadline, freshConnection } = request;
      if (deadline.ended) {
        settle(unavailable(deadline.ended));
        return;
      }
      let kept = freshConnection ? undefined : this.#kept.get(origin);
      if (!kept && !freshConnection) this.#kept.set(origin, (kept = { all: new Set(), idle: [] }));
      try {
        const idle = kept?.idle.pop();
        (idle ?? new Connection(origin, this.#settings, this.#connect, kept)).send(request, settle);
      } catch {
        settle(UNREACHABLE);
      }
    });
  }

  /**
   * Replaces the kept connections for later calls, at most once a second. Existing ones close when their
   * calls complete.
   */
  renew(): void {
    const now = performance.now();
    if (now - this.#renewedAt < RENEW_PAUSE_MS) return;
    this.#renewedAt = now;
    for (const connection of this.#all()) connection.close();
    this.#kept.clear();
  }

  async close(): Promise<void> {
    await Promise.all(this.#all().map((connection) => connection.destroy()));
  }

  #all(): Connection[] {
    return [...this.#kept.values()].flatMap(({ all }) => [...all]);
  }
}

/**
 * The connections to one origin that are kept. The one that was used last is the next to be used, so that
 * those that a peak has left close.
 */
interface KeptConnections {
  readonly all: Set<Connection>;
  readonly idle: Connection[];
}

/** One connection, and the call that it carries. It is made, or made again, for its next call. */
class Connection implements Dispatcher.DispatchHandler {
  readonly #settings: ConnectionSettings;
  readonly #kept: KeptConnections | undefined;
  readonly #dispatcher: Dispatcher;
  #socket: Socket | undefined;
  /** Settles the call under way, which ends when this is `undefined`. */
  #settle: Settle | undefined;
  #head: Omit<Reply, 'body'> = { status: 0, headers: {} };
  #body = new BodyBuffer();
  /** Bytes that the socket had read before the call. */
  #readBefore = 0;
  #interimReplies = 0;

  /** `kept`: those among which it is kept for further calls, if there is room. */
  constructor(origin: string, settings: ConnectionSettings, connect: Connector, kept?: KeptConnections) {
    this.#settings = settings;
    const { proxy, maxConnections } = settings;
    this.#dispatcher = proxy ? this.#throughProxy(proxy) : this.#clientOf(origin, connect);
    if (!kept || kept.all.size >= maxConnections) return;
    this.#kept = kept;
    kept.all.add(this);
  }

  /** Sends a request. A connection that is not kept closes after its reply. */
  send(request: ServiceRequest, settle: Settle): void {
    const { origin, path, method, headers, body, deadline, freshConnection } = request;
    this.#settle = settle;
    this.#body = new BodyBuffer();
    this.#interimReplies = 0;
    deadline.onEnd((end) => {
      if (this.#settle === settle) this.#abort(unavailable(end));
    });
    try {
      // A literal: with a spread of `request`, a call took 7 us more.
      this.#dispatcher.dispatch({ origin, path, method, headers, body, reset: freshConnection }, this);
    } catch (error) {
      this.onResponseError(undefined, error);
    }
    if (!this.#kept) this.close();
  }

  close(): void {
    this.#dispatcher.close().catch(() => undefined);
  }

  /** Closes the connection, even while it is connecting, which undici does not. */
  async destroy(): Promise<void> {
    this.#socket?.destroy();
    await this.#dispatcher.destroy().catch(() => undefined);
  }

  onRequestStart(): void {
    this.#readBefore = this.#socket?.bytesRead ?? 0;
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    // Interim replies are followed by another, and carry nothing that counts.
    if (status < 200 && status !== SWITCHING_PROTOCOLS) {
      this.#interimReplies += 1;
      if (this.#interimReplies > MAX_INTERIM_REPLIES) this.#abort(UNREACHABLE);
      return;
    }
    this.#head = { status, headers };
    if (status < 200 || !isReadable(headers, this.#settings.maxResponseBytes)) this.#abortBody();
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (!this.#body.append(chunk, this.#settings.maxResponseBytes)) this.#abortBody();
  }

  onResponseEnd(): void {
    // After an abort, undici still ends a reply without a body that closes its connection.
    if (!this.#settle) return;
    this.#settle({ ...this.#head, body: this.#body.bytes });
    this.#settle = undefined;
    this.#kept?.idle.push(this);
  }

  /**
   * The connection is stale if it has carried a reply, and ends before the first byte of the next: the
   * service closed it while it was idle, so that the error says nothing about its health.
   */
  onResponseError(_controller: unknown, error: unknown): void {
    if (!this.#settle) return;
    reportFailure(error, this.#settings.connectionFailed);
    const isStale = this.#readBefore > 0 && this.#socket?.bytesRead === this.#readBefore;
    this.#abort(isStale ? STALE_CONNECTION : UNREACHABLE);
  }

  #abortBody(): void {
    this.#abort({ ...this.#head, body: undefined });
  }

  #abort(answer: Answer): void {
    this.#settle?.(answer);
    this.#settle = undefined;
    this.#kept?.all.delete(this);
    void this.destroy();
  }

  #clientOf(origin: string | URL, connect: Connector): Client {
    const tracked: buildConnector.connector = (options, settle) => {
      const connecting = connect(options, (...outcome) => {
        const [, socket] = outcome;
        if (socket) this.#socket = socket;
        settle(...outcome);
        if (socket) acceptContinue(socket);
      });
      if (connecting instanceof Socket) this.#socket = connecting;
    };
    return new Client(origin, { ...LIMITS, connect: tracked });
  }

  #throughProxy({ protocol = 'http', host, port, auth }: AxiosProxyConfig): ProxyAgent {
    const uri = `${protocol.replace(/:$/, '')}://${host}:${port}`;
    const token = auth && `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
    const factory = (origin: string | URL, { connect }: { connect: buildConnector.connector }): Client =>
      this.#clientOf(origin, connect);
    return new ProxyAgent({ uri, ...(token && { token }), factory, proxyTunnel: false });
  }
}

/** The parser that undici attaches to a socket. */
interface ReplyParser {
  onHeadersComplete(status: number, ...rest: readonly unknown[]): unknown;
}

/**
 * Makes a connection accept `100 Continue` before a reply. undici accepts every other interim reply (1xx),
 * but treats this one as an error unless it sent `Expect`. Its parser therefore gets `102 Processing`.
 */
function acceptContinue(socket: Socket): void {
  for (const symbol of Object.getOwnPropertySymbols(socket)) {
    const parser = Reflect.get(socket, symbol) as Partial<ReplyParser> | null | undefined;
    const onHeadersComplete = parser?.onHeadersComplete;
    if (parser && typeof onHeadersComplete === 'function')
      parser.onHeadersComplete = (status, ...rest) =>
        onHeadersComplete.call(parser as ReplyParser, status === 100 ? 102 : status, ...rest);
  }
}
