import type { AxiosProxyConfig } from 'axios';
import { Agent, buildConnector, Client, Pool, ProxyAgent, type Dispatcher } from 'undici';
import type { Deadline } from '../deadline.js';
import { acceptingContinue } from './interim-replies.js';
import { UNREACHABLE, type NoReply } from './reply.js';
import { rememberingConnector } from './reply-collector.js';
import { ReplyCollector } from './reply-collector.js';
import type { Reply } from './reply.js';
import type { SessionRequest } from './session-request.js';

/** How connections to the session service are made, and what may come over them. */
export interface ConnectionSettings {
  readonly origin: string;
  readonly maxConnections: number;
  /** How long a connection may take to come about: no longer than the check that waits for it. */
  readonly connectTimeoutMs: number;
  readonly maxResponseBytes: number;
  readonly proxy: AxiosProxyConfig | undefined;
}

/** What undici hands to the factory of the pools behind a proxy. */
interface ProxyConnection {
  readonly connect?: buildConnector.connector;
}

/** Bytes of headers that a reply may have; a longer head is no answer of the session service (our decision). */
const MAX_HEADER_BYTES = 16_384;

/** Milliseconds between two renewals of the pool. */
const RENEW_PAUSE_MS = 1_000;

/** undici's own time limits are off: the deadline of the call is the only clock. */
const LIMITS = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES };

/** Connections to the session service: pooled ones for checks, a new one for each sign-in and sign-out. */
export class Connections {
  readonly #settings: ConnectionSettings;
  readonly #connect: buildConnector.connector;
  /** One for all, so that a TLS session is resumed. The deadline of the call bounds the connection. */
  readonly #connectFresh = acceptingContinue(buildConnector({ timeout: 0 }));
  #pooled: Dispatcher;
  #renewedAt = -Infinity;
  #elsewhere: Dispatcher | undefined;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.#connect = acceptingContinue(rememberingConnector(settings.connectTimeoutMs));
    this.#pooled = this.#newPool();
  }

  /** Sends one request and gives its complete reply, whatever its status. Never rejects. */
  exchange({ origin, path, method, headers, body, deadline, freshConnection }: SessionRequest): Promise<Reply | NoReply> {
    return new Promise((settle) => {
      const collector = new ReplyCollector(this.#settings.maxResponseBytes, settle);
      deadline.onEnd((end) => collector.expire(end));
      if (deadline.ended) return;
      const options = { origin, path, method, headers: headers as string[], body };
      try {
        if (freshConnection) this.#dispatchOnce(options, collector, deadline);
        else this.#dispatcherTo(origin).dispatch(options, collector);
      } catch {
        settle(UNREACHABLE);
      }
    });
  }

  /** Makes new connections for the calls to come, at most once a second; those of before end with the calls on them. */
  renew(): void {
    const now = performance.now();
    if (now - this.#renewedAt < RENEW_PAUSE_MS) return;
    this.#renewedAt = now;
    const former = this.#pooled;
    this.#pooled = this.#newPool();
    former.close().catch(() => undefined);
  }

  /** Drops every pooled connection, with the calls on it. */
  async close(): Promise<void> {
    await Promise.all([this.#pooled.destroy(), this.#elsewhere?.destroy()]);
  }

  #newPool(): Dispatcher {
    const { origin, proxy, maxConnections } = this.#settings;
    return proxy ? this.#proxyAgent(proxy) : new Pool(origin, { ...LIMITS, connections: maxConnections, connect: this.#connect });
  }

  /** An interceptor of the application may send a request somewhere else. */
  #dispatcherTo(origin: string): Dispatcher {
    if (origin === this.#settings.origin || this.#settings.proxy) return this.#pooled;
    return (this.#elsewhere ??= new Agent({ ...LIMITS, connections: this.#settings.maxConnections, connect: this.#connect }));
  }

  /** The connection ends with the reply, or at the deadline, even before it is there. */
  #dispatchOnce(options: Dispatcher.DispatchOptions & { origin: string }, handler: ReplyCollector, deadline: Deadline): void {
    const { proxy } = this.#settings;
    const connection = proxy ? this.#proxyAgent(proxy) : new Client(options.origin, { ...LIMITS, connect: this.#connectFresh });
    deadline.onEnd(() => void connection.destroy().catch(() => undefined));
    connection.dispatch({ ...options, reset: true }, handler);
    connection.close().catch(() => undefined);
  }

  #proxyAgent({ protocol = 'http', host, port, auth }: AxiosProxyConfig): ProxyAgent {
    const uri = `${protocol.replace(/:$/, '')}://${host}:${port}`;
    const token = auth && `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
    const limits = { ...LIMITS, connections: this.#settings.maxConnections };
    // Where it does not tunnel, undici hands none of the limits to what connects to the proxy.
    const factory = (to: string | URL, { connect, ...options }: ProxyConnection): Pool =>
      new Pool(to, { ...limits, ...options, ...(connect && { connect: acceptingContinue(connect) }) });
    return new ProxyAgent({ ...limits, uri, ...(token && { token }), factory, proxyTunnel: false });
  }
}
