import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type AllowedHosts } from './allowed-hosts.js';
import { HostCheck } from './host-check.js';
import { originOf } from './origin-of.js';

/** Whoever answers requests. */
export interface Answering {
  handle(request: IncomingMessage, response: ServerResponse): void;
}

const OF_THE_BACKEND = /^\/(?:api|docs|docs-json|metrics)(?:[/?]|$)/;
const DRAIN_MS = 5_000;

/** The one port: what names the demo as its host and belongs to the backend goes there, everything else to the console with its page. */
export class FrontDoor {
  readonly #server: Server;

  constructor(backend: Answering, theConsole: Answering, allowedHosts: AllowedHosts) {
    const hosts = new HostCheck(allowedHosts);
    this.#server = createServer((request, response) => {
      response.once('close', () => this.#letGo());
      if (!hosts.pass(request, response)) return;
      (OF_THE_BACKEND.test(request.url ?? '') ? backend : theConsole).handle(request, response);
    });
  }

  /** Gives the URL. Rejects with what the system says where it can't listen. */
  async open(port: number, host: string): Promise<string> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    return originOf(this.#server.address() as AddressInfo);
  }

  /** Takes no more connections, and ends those that are open when they are idle, or after five seconds. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    const patience = setTimeout(() => this.#server.closeAllConnections(), DRAIN_MS);
    this.#server.close();
    await closed;
    clearTimeout(patience);
  }

  /** A connection whose reply ends after the door was closed would be kept for the next request, which can't come. */
  #letGo(): void {
    if (!this.#server.listening) setImmediate(() => this.#server.closeIdleConnections());
  }
}
