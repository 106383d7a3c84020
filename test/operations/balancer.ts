import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const PROBE_PAUSE_MS = 20;
const KEEP_ALIVE_MS = 60_000;

/**
 * A load balancer: sends requests to the instances that say that they are ready, in turn, and tries none
 * twice.
 */
export class Balancer {
  readonly #server: Server;
  readonly #targets = new Set<string>();
  readonly #ready = new Set<string>();
  #turn = 0;
  #closed = false;

  private constructor() {
    this.#server = createServer((incoming, reply) => this.#forward(incoming, reply));
    // On a busy machine, this process can pause for longer than the default of 5 s, and would then close a
    // connection as it is used.
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS;
  }

  static async start(): Promise<Balancer> {
    const balancer = new Balancer();
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Probes an instance from now on. */
  add(target: string): void {
    this.#targets.add(target);
    void this.#probe(target);
  }

  isReady(target: string): boolean {
    return this.#ready.has(target);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #probe(target: string): Promise<void> {
    while (!this.#closed && this.#targets.has(target)) {
      const isReady = await statusOf(`${target}/ready`).then((status) => status === 200);
      if (isReady) this.#ready.add(target);
      else if (this.#ready.delete(target)) this.#targets.delete(target);
      await new Promise((resolve) => setTimeout(resolve, PROBE_PAUSE_MS));
    }
  }

  #forward(incoming: IncomingMessage, reply: ServerResponse): void {
    const ready = [...this.#ready];
    const target = ready[(this.#turn += 1) % ready.length];
    if (target === undefined) {
      reply.writeHead(504).end();
      return;
    }
    const headers = { ...incoming.headers, host: new URL(target).host, connection: 'close' };
    const call = request(
      `${target}${incoming.url ?? ''}`,
      { method: incoming.method, headers, agent: false },
      (answer) => {
        reply.writeHead(answer.statusCode ?? 502, { 'x-instance': target });
        answer.pipe(reply);
      },
    );
    call.on('error', () => reply.writeHead(502).end()).end();
  }
}

function statusOf(url: string): Promise<number> {
  return new Promise((resolve) => {
    const probe = request(url, { agent: false }, (reply) => {
      reply.resume();
      resolve(reply.statusCode ?? 0);
    });
    probe.on('error', () => resolve(0)).end();
  });
}
