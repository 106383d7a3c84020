import type { AxiosProxyConfig } from 'axios';
import { Agent, Client, Pool, ProxyAgent, type Dispatcher } from 'undici';
import { UNREACHABLE, type NoReply } from './no-reply.js';
import { rememberingConnector } from './reused-connection.js';
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

/** Bytes of headers that a reply may have; a longer head is no answer of the session service (our decision). */
const MAX_HEADER_BYTES = 16_384;

/** undici's own time limits are off: the deadline of the call is the only clock. */
const LIMITS = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES };

/** Connections to the session service: pooled ones for checks, a new one for each sign-in and sign-out. */
export class Connections {
  readonly #settings: ConnectionSettings;
  readonly #pooled: Dispatcher;
  #elsewhere: Dispatcher | undefined;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    const { origin, proxy, maxConnections, connectTimeoutMs } = settings;
    this.#pooled = proxy
      ? this.#proxyAgent(proxy)
      : new Pool(origin, { ...LIMITS, connections: maxConnections, connect: rememberingConnector(connectTimeoutMs) });
  }

  /** Sends one request and gives its complete reply, whatever its status. Never rejects. */
  exchange({ origin, path, method, headers, body, deadline, freshConnection }: SessionRequest): Promise<Reply | NoReply> {
    return new Promise((settle) => {
      const collector = new ReplyCollector(this.#settings.maxResponseBytes, settle);
      deadline.onEnd((end) => collector.expire(end));
      if (deadline.ended) return;
      const options = { origin, path, method, headers: headers as string[], body };
      try {
        if (freshConnection) this.#dispatchOnce(options, collector);
        else this.#dispatcherTo(origin).dispatch(options, collector);
      } catch {
        settle(UNREACHABLE);
      }
    });
  }

  /** Drops every pooled connection, with the calls on it. */
  async close(): Promise<void> {
    await Promise.all([this.#pooled.destroy(), this.#elsewhere?.destroy()]);
  }

  /** An interceptor of the application may send a request somewhere else. */
  #dispatcherTo(origin: string): Dispatcher {
    if (origin === this.#settings.origin || this.#settings.proxy) return this.#pooled;
    return (this.#elsewhere ??= new Agent({ ...LIMITS, connections: this.#settings.maxConnections }));
  }

  /** The connection ends with the reply. */
  #dispatchOnce(options: Dispatcher.DispatchOptions & { origin: string }, handler: ReplyCollector): void {
    const { proxy } = this.#settings;
    const connection = proxy ? this.#proxyAgent(proxy) : new Client(options.origin, LIMITS);
    connection.dispatch({ ...options, reset: true }, handler);
    connection.close().catch(() => undefined);
  }

  #proxyAgent({ protocol = 'http', host, port, auth }: AxiosProxyConfig): ProxyAgent {
    const uri = `${protocol.replace(/:$/, '')}://${host}:${port}`;
    const token = auth && `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
    const limits = { ...LIMITS, connections: this.#settings.maxConnections };
    // Where it does not tunnel, undici hands none of the limits to what connects to the proxy.
    const factory = (to: string | URL, options: object): Pool => new Pool(to, { ...limits, ...options });
    return new ProxyAgent({ ...limits, uri, ...(token && { token }), factory, proxyTunnel: false });
  }
}
