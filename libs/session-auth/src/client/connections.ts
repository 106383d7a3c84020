import type { IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import type { AxiosProxyConfig } from 'axios';
// By its file, because Bun resolves 'undici' to its own one, whose Client has no dispatch().
import { buildConnector, Client, ProxyAgent, type Dispatcher } from 'undici/index.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import { type Deadline, type DeadlineEnd, noReplyAt } from './deadline.js';
import {
  BodyBuffer,
  isReadable,
  MAX_HEADER_BYTES,
  type NoReply,
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
  /** Names and values, alternating. */
  readonly headers: readonly string[];
  readonly body: string | null;
  readonly deadline: Deadline;
  /**
   * Use a new connection. A sign-in or sign-out is never retried, so it must not use one that the service may
   * just have closed.
   */
  readonly freshConnection: boolean;
}

/** Settings and limits of the connections to the session service. */
export interface ConnectionSettings {
  /** Maximum number of connections that are kept, for each origin. */
  readonly maxConnections: number;
  /** Milliseconds that connecting may take: no longer than the check that waits for the connection. */
  readonly connectTimeoutMs: number;
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

/** Abort reason passed to undici; never surfaces. */
const ABORTED = new Error('the reply is no longer wanted');

/** A connector that returns its socket, as those of undici do, although their types do not say so. */
type Connector = (...connection: Parameters<buildConnector.connector>) => unknown;

type Settle = (outcome: Reply | NoReply) => void;

/** Connections to the session service: kept ones for checks, a new one for each sign-in and sign-out. */
export class Connections {
  readonly #settings: ConnectionSettings;
  readonly #connect: Connector;
  /** One for all fresh connections, so that TLS sessions are resumed. Their deadlines limit them. */
  readonly #connectFresh: Connector = buildConnector({ timeout: 0 });
  /** By origin: interceptors of the application may change it. */
  readonly #kept = new Map<string, KeptConnections>();
  #renewedAt = -Infinity;

  constructor(settings: ConnectionSettings) {
    if (typeof Client.prototype.dispatch !== 'function') throw new InvalidConfigurationError(NOT_UNDICI);
    this.#settings = settings;
    this.#connect = buildConnector({ timeout: settings.connectTimeoutMs });
  }

  /**
   * Sends a request. Resolves with the complete reply of any status, or with the reason why there is none.
   * Never rejects.
   */
  exchange(request: ServiceRequest): Promise<Reply | NoReply> {
    return new Promise((resolve) => {
      const { deadline, freshConnection } = request;
      try {
        if (deadline.ended) resolve(noReplyAt(deadline.ended));
        else if (freshConnection) this.#sendOnce(request, resolve);
        else this.#keptTo(request.origin).take().send(request, this.#settings, resolve);
      } catch {
        resolve(UNREACHABLE);
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
    for (const kept of this.#kept.values()) kept.close();
    this.#kept.clear();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#kept.values()].map((kept) => kept.destroy()));
  }

  #keptTo(origin: string): KeptConnections {
    let kept = this.#kept.get(origin);
    if (!kept) {
      const { maxConnections, proxy } = this.#settings;
      kept = new KeptConnections(
        maxConnections,
        (owner) => new Connection(origin, proxy, this.#connect, owner),
      );
      this.#kept.set(origin, kept);
    }
    return kept;
  }

  /**
   * Sends a request on its own connection, which closes after the reply or at the deadline, even while it is
   * connecting.
   */
  #sendOnce(request: ServiceRequest, settle: Settle): void {
    const connection = new Connection(request.origin, this.#settings.proxy, this.#connectFresh);
    connection.send(request, this.#settings, settle);
    request.deadline.onEnd(() => void connection.destroy());
    connection.close();
  }
}

/**
 * The connections to one origin that are kept. Each carries one call at a time. The one that was used last is
 * the next to be used, so that those that a peak has left close.
 */
class KeptConnections {
  readonly #max: number;
  readonly #open: (owner: KeptConnections) => Connection;
  readonly #all = new Set<Connection>();
  idle: Connection[] = [];

  constructor(max: number, open: (owner: KeptConnections) => Connection) {
    this.#max = max;
    this.#open = open;
  }

  /** Returns an idle connection. If there are as many as allowed, and none is idle, calls queue on them in turn. */
  take(): Connection {
    const idle = this.idle.pop();
    if (idle) return idle;
    const [longestBusy] = this.#all;
    const connection = this.#all.size < this.#max || !longestBusy ? this.#open(this) : longestBusy;
    this.#all.delete(connection);
    this.#all.add(connection);
    return connection;
  }

  drop(connection: Connection): void {
    this.#all.delete(connection);
    this.idle = this.idle.filter((other) => other !== connection);
  }

  close(): void {
    for (const connection of this.#all) connection.close();
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.#all].map((connection) => connection.destroy()));
  }
}

/** One connection, which is made for its first call. */
class Connection {
  readonly #dispatcher: Dispatcher;
  readonly #owner: KeptConnections | undefined;
  #calls = 0;
  #socket: Socket | undefined;

  /** `owner`: keeps it for further calls. */
  constructor(
    origin: string,
    proxy: AxiosProxyConfig | undefined,
    connect: Connector,
    owner?: KeptConnections,
  ) {
    this.#owner = owner;
    this.#dispatcher = proxy ? this.#throughProxy(proxy) : this.#clientOf(origin, connect);
  }

  get bytesRead(): number {
    return this.#socket?.bytesRead ?? 0;
  }

  send(request: ServiceRequest, settings: ConnectionSettings, settle: Settle): void {
    this.#calls += 1;
    const exchange = new Exchange(this, settings, settle);
    request.deadline.onEnd((end) => exchange.expire(end));
    const { origin, path, method, headers, body } = request;
    const options = {
      origin,
      path,
      method,
      headers: headers as string[],
      body,
      reset: this.#owner === undefined,
    };
    try {
      this.#dispatcher.dispatch(options, exchange);
    } catch (error) {
      exchange.onResponseError(undefined, error);
    }
  }

  completed(): void {
    this.#calls -= 1;
    if (this.#calls > 0) return;
    if (this.#socket?.destroyed) this.#owner?.drop(this);
    else this.#owner?.idle.push(this);
  }

  close(): void {
    this.#dispatcher.close().catch(() => undefined);
  }

  /** Closes the connection, even while it is connecting, which undici does not. */
  async destroy(): Promise<void> {
    this.#socket?.destroy();
    await this.#dispatcher.destroy().catch(() => undefined);
  }

  #clientOf(origin: string | URL, connect: Connector): Client {
    const tracked: buildConnector.connector = (options, settle) => {
      const connecting = connect(options, (...outcome) => {
        const [, socket] = outcome;
        if (socket) this.#track(socket);
        settle(...outcome);
        if (socket) acceptContinue(socket);
      });
      if (connecting instanceof Socket) this.#track(connecting);
    };
    return new Client(origin, { ...LIMITS, connect: tracked });
  }

  #throughProxy({ protocol = 'http', host, port, auth }: AxiosProxyConfig): ProxyAgent {
    const uri = `${protocol.replace(/:$/, '')}://${host}:${port}`;
    const token = auth && `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
    const factory = (origin: string | URL, { connect }: ProxyConnection): Client =>
      this.#clientOf(origin, connect);
    return new ProxyAgent({ uri, ...(token && { token }), factory, proxyTunnel: false });
  }

  #track(socket: Socket): void {
    if (socket === this.#socket) return;
    this.#socket = socket;
    socket.once('close', () => {
      if (this.#calls === 0) this.#owner?.drop(this);
    });
  }
}

/** Option that undici passes to the factory of a `ProxyAgent`. */
interface ProxyConnection {
  readonly connect: buildConnector.connector;
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

/** One request and its reply, within the size limit and the deadline. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #connection: Connection;
  readonly #settings: ConnectionSettings;
  readonly #settle: Settle;
  readonly #body: BodyBuffer;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #readBefore = 0;
  #interimReplies = 0;
  #isAborted = false;

  constructor(connection: Connection, settings: ConnectionSettings, settle: Settle) {
    this.#connection = connection;
    this.#settings = settings;
    this.#settle = settle;
    this.#body = new BodyBuffer(settings.maxResponseBytes);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#readBefore = this.#connection.bytesRead;
    if (this.#isAborted) controller.abort(ABORTED);
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
    // Interim replies are followed by another, and carry nothing that counts.
    if (status < 200 && status !== SWITCHING_PROTOCOLS) {
      this.#interimReplies += 1;
      if (this.#interimReplies > MAX_INTERIM_REPLIES) this.#abort(UNREACHABLE);
      return;
    }
    if (status < 200 || !isReadable(headers, this.#settings.maxResponseBytes))
      this.#abort(this.#replyWith(undefined));
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (!this.#body.append(chunk)) this.#abort(this.#replyWith(undefined));
  }

  onResponseEnd(): void {
    this.#connection.completed();
    this.#settle(this.#replyWith(this.#body.bytes));
  }

  /**
   * The connection is stale if it has carried a reply, and ends before the first byte of the next: the
   * service closed it while it was idle, so that the error says nothing about its health.
   */
  onResponseError(_controller: unknown, error: unknown): void {
    const isStale = this.#readBefore > 0 && this.#connection.bytesRead === this.#readBefore;
    reportFailure(error, this.#settings.connectionFailed);
    this.#connection.completed();
    this.#settle(isStale ? STALE_CONNECTION : UNREACHABLE);
  }

  expire(end: DeadlineEnd): void {
    this.#abort(noReplyAt(end));
  }

  #replyWith(body: Buffer | undefined): Reply {
    return { status: this.#status, headers: this.#headers, body };
  }

  /** Settles, and aborts the request, which closes its connection. */
  #abort(outcome: Reply | NoReply): void {
    this.#settle(outcome);
    this.#isAborted = true;
    this.#controller?.abort(ABORTED);
  }
}
