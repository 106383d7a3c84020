import { once } from 'node:events';
import {
  createServer,
  request as requestTo,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { SerialQueue } from '../serving/serial-queue.js';
import { type Fault } from './fault.js';

const HOST = '127.0.0.1';
/** Slow, but within the deadline of a check. */
const SLOW_MS = 1_500;

/** Proxies the embedded session service, and fails on demand. */
export class FaultProxy {
  readonly #server: Server;
  readonly #service: URL;
  readonly #changes = new SerialQueue();
  #port = 0;
  #fault: Fault = 'none';

  constructor(serviceUrl: string) {
    this.#service = new URL(serviceUrl);
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** Listens. Resolves to the URL of the proxy. */
  async open(): Promise<string> {
    await this.#listen();
    return `http://${HOST}:${this.#port}`;
  }

  /** The current fault. */
  get fault(): Fault {
    return this.#fault;
  }

  /** Changes the fault. `stopped` closes the port and all its connections. */
  setFault(fault: Fault): Promise<void> {
    return this.#changes.run(() => this.#apply(fault));
  }

  async close(): Promise<void> {
    await this.#changes.settled();
    await this.#stop();
  }

  async #apply(fault: Fault): Promise<void> {
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
    if (this.#fault === 'garbage')
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>It works!</h1>');
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
