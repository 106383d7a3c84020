import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { AUTHENTICATION_PATH, USER_DETAILS_PATH } from '../contract/wire.js';
import { json, type Operation, reply, type Script, type SeenRequest } from './scripts.js';

const NO_SUCH_PATH = reply(404, 'no such path');

/** Where a scripted session service listens. */
export interface SessionServiceOptions {
  /** Port on the loopback interface: that of a service that was closed, to let it come back. @default 0 (a free one) */
  readonly port?: number;
}

/**
 * A session service for tests. Unscripted, user_details knows the tokens of {@link ScriptedSessionService.signInAs} and refuses
 * others with 401, a sign-in is refused with 401, and a sign-out succeeds.
 */
export class ScriptedSessionService {
  /** The requests that reached it, in their order. */
  readonly requests: SeenRequest[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #closings = new EventEmitter();
  readonly #sessions = new Map<string, object>();
  readonly #scripts = new Map<Operation, Script>([
    ['user_details', (...call) => this.#details(...call)],
    ['sign_in', reply(401)],
    ['sign_out', reply(200)],
  ]);
  #opened = 0;
  #port = 0;

  private constructor() {
    this.#server = createServer((incoming, response) => {
      // A request that breaks off is none.
      readRequest(incoming).then(
        (request) => this.#take(request)(request, response, incoming.socket),
        () => undefined,
      );
    });
    this.#server.on('connection', (socket) => this.#watch(socket));
  }

  /** Starts one on a loopback port. */
  static async start({ port = 0 }: SessionServiceOptions = {}): Promise<ScriptedSessionService> {
    const service = new ScriptedSessionService();
    service.#server.listen(port, '127.0.0.1');
    await once(service.#server, 'listening');
    service.#port = (service.#server.address() as AddressInfo).port;
    return service;
  }

  /** What `baseUrl` is to be. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Sets what user_details, sign-in or sign-out answer from now on. */
  on(operation: Operation, script: Script): void {
    this.#scripts.set(operation, script);
  }

  /** Makes a token valid, and gives it back: user_details answers with this record. */
  signInAs(record: object, token = `token-${this.#sessions.size + 1}`): string {
    this.#sessions.set(token, { username: 'ann', auth_token: token, ...record });
    return token;
  }

  /** Ends a session: its token is refused from now on. */
  revoke(token: string): void {
    this.#sessions.delete(token);
  }

  /** Requests of one operation that reached it. */
  callsTo(operation: Operation): number {
    return this.requests.filter((request) => request.operation === operation).length;
  }

  /** Connections that were opened to it. */
  connections(): number {
    return this.#opened;
  }

  /** Resolves when no connection is open. */
  async idle(): Promise<void> {
    while (this.#sockets.size > 0) await once(this.#closings, 'closing');
  }

  /** Ends every connection and frees the port. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }

  #take(request: SeenRequest): Script {
    this.requests.push(request);
    return (request.operation && this.#scripts.get(request.operation)) ?? NO_SUCH_PATH;
  }

  #details(...call: Parameters<Script>): void {
    const record = this.#sessions.get(String(call[0].headers['x-auth-token']));
    (record ? json(record) : reply(401))(...call);
  }

  #watch(socket: Socket): void {
    this.#opened += 1;
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#closings.emit('closing');
    });
  }
}

/** Reads a request to its end. */
export async function readRequest(incoming: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { method = '', url: path = '', headers, rawHeaders, socket } = incoming;
  const operation = operationOf(method, path);
  return { operation, method, path, headers, rawHeaders, body: Buffer.concat(chunks).toString(), remotePort: socket.remotePort };
}

/** Below whatever base path, with whatever query; the sign-in may have a trailing slash (section 4.1). */
function operationOf(method: string, target: string): Operation | undefined {
  const path = target.replace(/[?].*$/, '');
  if (path.endsWith(USER_DETAILS_PATH)) return method === 'GET' ? 'user_details' : undefined;
  if (!path.replace(/\/$/, '').endsWith(AUTHENTICATION_PATH)) return undefined;
  if (method === 'POST') return 'sign_in';
  return method === 'DELETE' ? 'sign_out' : undefined;
}
