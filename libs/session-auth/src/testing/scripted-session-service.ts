import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { AUTHENTICATION_PATH, USER_DETAILS_PATH } from '../contract/wire.js';
import { json, type Operation, reply, type Script, type SeenRequest } from './scripts.js';

const NO_SUCH_PATH = reply(404, 'no such path');

/** Options of a scripted session service. */
export interface SessionServiceOptions {
  /** Port on the loopback interface. Pass the port of a closed service to restart it. @default 0 (a free port) */
  readonly port?: number;
}

/**
 * A session service for tests. By default, user_details accepts the tokens of {@link ScriptedSessionService.signInAs} and refuses
 * others with 401, a sign-in is refused with 401, and a sign-out succeeds.
 */
export class ScriptedSessionService {
  /** The received requests, in order. */
  readonly requests: SeenRequest[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #closings = new EventEmitter();
  readonly #sessions = new Map<string, object>();
  readonly #scripts = new Map<Operation, Script>([
    ['user_details', (...call) => this.#answerUserDetails(...call)],
    ['sign_in', reply(401)],
    ['sign_out', reply(200)],
  ]);
  #opened = 0;
  #port = 0;

  private constructor() {
    this.#server = createServer((incoming, response) => {
      // An aborted request is ignored.
      readRequest(incoming).then(
        (request) => this.#scriptFor(request)(request, response, incoming.socket),
        () => undefined,
      );
    });
    this.#server.on('connection', (socket) => this.#track(socket));
  }

  /** Starts a service on a loopback port. */
  static async start({ port = 0 }: SessionServiceOptions = {}): Promise<ScriptedSessionService> {
    const service = new ScriptedSessionService();
    service.#server.listen(port, '127.0.0.1');
    await once(service.#server, 'listening');
    service.#port = (service.#server.address() as AddressInfo).port;
    return service;
  }

  /** Value for the option `baseUrl`. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Sets the script of user_details, sign-in or sign-out for all later requests. */
  on(operation: Operation, script: Script): void {
    this.#scripts.set(operation, script);
  }

  /** Makes a token valid, and returns it. user_details then answers with this record. */
  signInAs(record: object, token = `token-${this.#sessions.size + 1}`): string {
    this.#sessions.set(token, { username: 'ann', auth_token: token, ...record });
    return token;
  }

  /** Ends a session. Its token is then refused. */
  revoke(token: string): void {
    this.#sessions.delete(token);
  }

  /** Returns the number of received requests of an operation. */
  callsTo(operation: Operation): number {
    return this.requests.filter((request) => request.operation === operation).length;
  }

  /** Returns the number of connections that were opened to the service. */
  connections(): number {
    return this.#opened;
  }

  /** Resolves when no connection is open. */
  async idle(): Promise<void> {
    while (this.#sockets.size > 0) await once(this.#closings, 'closing');
  }

  /** Closes all connections, and frees the port. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Records a request, and returns its script. */
  #scriptFor(request: SeenRequest): Script {
    this.requests.push(request);
    return (request.operation && this.#scripts.get(request.operation)) ?? NO_SUCH_PATH;
  }

  #answerUserDetails(...call: Parameters<Script>): void {
    const record = this.#sessions.get(String(call[0].headers['x-auth-token']));
    (record ? json(record) : reply(401))(...call);
  }

  #track(socket: Socket): void {
    this.#opened += 1;
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#closings.emit('closing');
    });
  }
}

/** Reads a request with its complete body. Rejects if it is aborted. */
async function readRequest(incoming: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { method = '', url: path = '', headers, rawHeaders, socket } = incoming;
  const operation = operationOf(method, path);
  return { operation, method, path, headers, rawHeaders, body: Buffer.concat(chunks).toString(), remotePort: socket.remotePort };
}

/** Returns the operation of a request. Accepts any base path and query, and a trailing slash, as for a sign-in (section 4.1). */
function operationOf(method: string, target: string): Operation | undefined {
  const path = target.replace(/[?].*$/, '');
  if (path.endsWith(USER_DETAILS_PATH)) return method === 'GET' ? 'user_details' : undefined;
  if (!path.replace(/\/$/, '').endsWith(AUTHENTICATION_PATH)) return undefined;
  if (method === 'POST') return 'sign_in';
  return method === 'DELETE' ? 'sign_out' : undefined;
}
