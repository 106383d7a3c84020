import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A service that records what it gets, and redirects `/to?<url>`. */
export class Receiver {
  readonly received: { url: string; headers: IncomingHttpHeaders; body: string }[] = [];
  origin = '';
  #server: Server | undefined;

  async start(): Promise<this> {
    const server = createServer((request, reply) => {
      const { url = '', headers } = request;
      void text(request).then((body) => {
        this.received.push({ url, headers, body });
        const [path, target] = url.split('?');
        if (path === '/to' && target) reply.writeHead(302, { location: decodeURIComponent(target) });
        reply.end('done');
      });
    });
    this.#server = server;
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return this;
  }

  /** The tokens of the requests, in their order. */
  get tokens(): unknown[] {
    return this.received.map(({ headers }) => headers['x-auth-token']);
  }

  /** Their `X-AUTH-IV`. */
  get ivs(): unknown[] {
    return this.received.map(({ headers }) => headers['x-auth-iv']);
  }

  close(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }
}
