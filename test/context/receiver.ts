import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A service that records the headers it gets, and redirects `/to?<url>`. */
export class Receiver {
  readonly received: { url: string; headers: IncomingHttpHeaders }[] = [];
  origin = '';
  #server: Server | undefined;

  async start(): Promise<this> {
    const server = createServer(({ url = '', headers }, reply) => {
      this.received.push({ url, headers });
      const [path, target] = url.split('?');
      if (path === '/to' && target) reply.writeHead(302, { location: decodeURIComponent(target) });
      reply.end('done');
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

  close(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }
}
