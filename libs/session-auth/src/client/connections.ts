import { Agent, Client, ProxyAgent, type Dispatcher } from 'undici';
import type { AxiosProxyConfig } from 'axios';

/** Bytes of headers that a reply may have; a longer head is no answer of the session service (our decision). */
const MAX_HEADER_BYTES = 16_384;

/** How connections to the session service are made. */
export interface ConnectionSettings {
  readonly maxConnections: number;
  readonly proxy: AxiosProxyConfig | undefined;
}

/** Connections to the session service: pooled ones for checks, a new one for each sign-in and sign-out. */
export class Connections {
  readonly #settings: ConnectionSettings;
  readonly #pooled: Dispatcher;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.#pooled = settings.proxy ? this.#proxyAgent(settings.proxy) : new Agent({ ...limits, connections: settings.maxConnections });
  }

  dispatch(options: Dispatcher.DispatchOptions & { origin: string }, handler: Dispatcher.DispatchHandler): void {
    this.#pooled.dispatch(options, handler);
  }

  /** Sends one request on a connection of its own, which ends with the reply. */
  dispatchOnce(options: Dispatcher.DispatchOptions & { origin: string }, handler: Dispatcher.DispatchHandler): void {
    const { proxy } = this.#settings;
    const connection = proxy ? this.#proxyAgent(proxy) : new Client(options.origin, limits);
    connection.dispatch({ ...options, reset: true }, handler);
    void connection.close();
  }

  /** Drops every pooled connection, with the calls on it. */
  async close(): Promise<void> {
    await this.#pooled.destroy();
  }

  #proxyAgent({ protocol = 'http', host, port, auth }: AxiosProxyConfig): ProxyAgent {
    const uri = `${protocol.replace(/:$/, '')}://${host}:${port}`;
    const token = auth && `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
    return new ProxyAgent({ ...limits, uri, ...(token && { token }), connections: this.#settings.maxConnections, proxyTunnel: false });
  }
}

/** undici's own time limits are off: the deadline of the call is the only clock. */
const limits = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES };
