import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { UserRecord } from '../contract/record/user-record.js';
import type { CurrentUserRecord } from '../guard/current-user.decorator.js';
import type { UserRecordFields } from './a-user-record.js';
import { jsonObjectIn, normalized, readRequest } from './received-request.js';
import { drop, json, type Operation, reply, type Script, type SeenRequest } from './scripts.js';
import { SessionControls, TOKEN_HEADER } from './session-controls.js';

const NO_SUCH_PATH = reply(404, 'no such path');

/** Options of a scripted session service. */
export interface SessionServiceOptions {
  /**
   * Port on the loopback interface. Pass the port of a closed service to restart it. @default 0 (a free port)
   */
  readonly port?: number;
  /**
   * Path below which the service answers, such as '/api'. Every other path is answered with 404. @default ''
   */
  readonly basePath?: string;
}

/**
 * A session service for tests. Without scripts, it knows the sessions of
 * {@link ScriptedSessionService.signInAs} and of sign-ins, and the users of {@link ScriptedSessionService.addUser}:
 * it answers all others with 401, and a sign-out ends the session.
 */
export class ScriptedSessionService<
  User extends UserRecord = CurrentUserRecord,
> extends SessionControls<User> {
  /** The received requests, in order. */
  readonly requests: SeenRequest[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #scripts = new Map<Operation, Script>([
    ['user_details', (...call) => answer(this.book.recordOf(tokenIn(call[0])))(...call)],
    ['sign_in', (...call) => this.#signIn(call[0])(...call)],
    ['sign_out', (...call) => reply(this.book.revoke(tokenIn(call[0])) ? 200 : 401)(...call)],
  ]);
  #opened = 0;
  #port = 0;
  readonly #basePath: string;

  /** @internal */
  protected constructor(basePath = '') {
    super();
    this.#basePath = normalized(basePath);
    this.#server = createServer((incoming, response) => {
      // An aborted request is ignored.
      readRequest(incoming, this.#basePath).then(
        (request) => {
          this.requests.push(request);
          this.scriptFor(request)(request, response, incoming.socket);
        },
        () => undefined,
      );
    });
    this.#server.on('connection', (socket) => this.#track(socket));
  }

  /** Starts a service on a loopback port. */
  static async start<User extends UserRecord>({
    port = 0,
    basePath = '',
  }: SessionServiceOptions): Promise<ScriptedSessionService<User>> {
    const service = new ScriptedSessionService<User>(basePath);
    await service.listen(port, '127.0.0.1');
    return service;
  }

  /** @internal Rejects with the error of the server if it can't listen. */
  protected async listen(port: number, host: string): Promise<void> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Value for the option `baseUrl`. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}${this.#basePath}`;
  }

  /** @internal */
  protected get port(): number {
    return this.#port;
  }

  /** Sets the script of user_details, sign-in or sign-out for all later requests. */
  on(operation: Operation, script: Script): void {
    this.#scripts.set(operation, script);
  }

  /**
   * Opens a session, and returns its token. user_details then answers with exactly these fields, and with the
   * `username` 'ann' if they have none. Without `token`, the token is new. With the token of a session, the
   * session gets the new record. Cast a record with wrong fields to `object`.
   */
  signInAs(fields: UserRecordFields<User> = {}, token?: string): string {
    return this.book.open(this.recordOf(fields), token);
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
    for (const socket of this.#sockets) await new Promise((resolve) => socket.once('close', resolve));
  }

  /** Closes all connections, and frees the port. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** @internal Returns the script that answers a request. */
  protected scriptFor(request: SeenRequest): Script {
    if (this.book.isDown) return drop;
    return (request.operation && this.#scripts.get(request.operation)) ?? NO_SUCH_PATH;
  }

  #signIn(request: SeenRequest): Script {
    const { username, password } = jsonObjectIn(request) ?? {};
    if (typeof username !== 'string' || typeof password !== 'string' || !username || !password)
      return reply(400);
    return answer(this.book.signIn({ username, password }));
  }

  /** @internal */
  protected override recordOf(fields: UserRecordFields<User>): object {
    return { username: 'ann', ...fields };
  }

  #track(socket: Socket): void {
    this.#opened += 1;
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
  }
}

function tokenIn({ headers }: SeenRequest): string {
  return String(headers[TOKEN_HEADER]);
}

function answer(record: object | undefined): Script {
  return record ? json(record) : reply(401);
}
