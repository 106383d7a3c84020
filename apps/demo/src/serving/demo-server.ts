import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type AllowedHosts } from './allowed-hosts.js';
import { HostCheck } from './host-check.js';
import { originOf } from './origin-of.js';

/** A handler of requests. */
export interface RequestHandler {
  handle(request: IncomingMessage, response: ServerResponse): void;
}

const BACKEND_PATH = /^\/(?:api|docs|docs-json|metrics)(?:[/?]|$)/;
const DRAIN_MS = 5_000;

/**
 * Listens on the demo's one port, and routes each request with an allowed host to the backend or, for all
 * other paths, to the console.
 */
export class DemoServer {
  readonly #server: Server;

  constructor(backend: RequestHandler, consoleApp: RequestHandler, allowedHosts: AllowedHosts) {
    const hosts = new HostCheck(allowedHosts);
    this.#server = createServer((request, response) => {
      response.once('close', () => this.#closeIdle());
      if (!hosts.pass(request, response)) return;
      (BACKEND_PATH.test(request.url ?? '') ? backend : consoleApp).handle(request, response);
    });
  }

  /** Listens. Resolves to the URL, or rejects with the error of the system. */
  async open(port: number, host: string): Promise<string> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    return originOf(this.#server.address() as AddressInfo);
  }

  /** Accepts no more connections, and closes open ones when they are idle, or after five seconds. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    const deadline = setTimeout(() => this.#server.closeAllConnections(), DRAIN_MS);
    this.#server.close();
    await closed;
    clearTimeout(deadline);
  }

  /** Keep-alive would otherwise hold a connection open whose reply ends after the server was closed. */
  #closeIdle(): void {
    if (!this.#server.listening) setImmediate(() => this.#server.closeIdleConnections());
  }
}
