import { once } from 'node:events';
import { createServer, request as requestTo, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Turns } from '../serving/turns.js';
import { type Fault } from './fault.js';

const HOST = '127.0.0.1';
/** Slow, but within the time that a check has. */
const SLOW_MS = 1_500;

/** Stands before the embedded session service, and ails where somebody wants to see what comes of it. */
export class FaultFront {
  readonly #server: Server;
  readonly #service: URL;
  readonly #changes = new Turns();
  #port = 0;
  #fault: Fault = 'none';

  constructor(serviceUrl: string) {
    this.#service = new URL(serviceUrl);
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** Gives the URL to ask in place of the service's own. */
  async open(): Promise<string> {
    await this.#listen();
    return `http://${HOST}:${this.#port}`;
  }

  get fault(): Fault {
    return this.#fault;
  }

  /** From now on; `stopped` closes the port, with all its connections. */
  ail(fault: Fault): Promise<void> {
    return this.#changes.take(() => this.#become(fault));
  }

  async close(): Promise<void> {
    await this.#changes.over();
    await this.#stop();
  }

  async #become(fault: Fault): Promise<void> {
    if (fault === 'stopped') await this.#stop();
    else if (!this.#server.listening) await this.#listen();
    this.#fault = fault;
  }

  async #listen(): Promise<void> {
    this.#server.listen(this.#port, HOST);
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async #stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#fault === 'broken') return void response.writeHead(500).end();
    if (this.#fault === 'garbage') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>It works!</h1>');
    if (this.#fault === 'slow') await wait(SLOW_MS, undefined, { ref: false });
    if (!response.destroyed) this.#pass(request, response);
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const { hostname: host, port } = this.#service;
    const { method, url: path, headers } = request;
    const passed = requestTo({ host, port, method, path, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    passed.once('error', () => response.destroy());
    response.once('close', () => passed.destroy());
    request.pipe(passed);
  }
}
