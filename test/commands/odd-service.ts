import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

export const API_KEY = 'the-application-key-of-doctor';
export const USER = { username: 'ann', password: 'the password of ann' };

export interface OddReply {
  readonly status: number;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request to the service, and its reply without habits. */
export interface OddCall {
  readonly operation: 'sign_in' | 'user_details' | 'sign_out' | 'none';
  readonly path: string;
  readonly key: string | undefined;
  readonly token: string | undefined;
  readonly authIv: string | undefined;
  readonly username: string | undefined;
  /** Whether it presents a session. */
  readonly isSession: boolean;
  readonly number: number;
}

/** The habits of a service. Each may replace its answer. */
export interface Habits {
  /** Path of the service. @default '/api' */
  readonly basePath?: string;
  readonly answer?: (usual: OddReply, call: OddCall, service: OddService) => OddReply;
  /** Writes the reply itself. Returns whether it did. */
  readonly write?: (usual: OddReply, call: OddCall, response: ServerResponse, socket: Socket) => boolean;
  readonly newToken?: (number: number) => string;
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** A session service that keeps the interface, except for its habits. */
export class OddService {
  /** Sessions: tokens and the IVs of their sign-ins. */
  readonly sessions = new Map<string, string | undefined>();
  calls = 0;
  signIns: (string | undefined)[] = [];
  readonly #habits: Habits;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #issued = 0;

  private constructor(habits: Habits) {
    this.#habits = habits;
    const listener = (request: IncomingMessage, response: ServerResponse): void =>
      void this.#serve(request, response);
    this.#server = habits.tls ? createTlsServer(habits.tls, listener) : createServer(listener);
    this.#server.on('connection', (socket: Socket) => this.#sockets.add(socket.on('error', () => undefined)));
  }

  static async start(habits: Habits = {}): Promise<OddService> {
    const service = new OddService(habits);
    service.#server.listen(0, '127.0.0.1');
    await once(service.#server, 'listening');
    return service;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get basePath(): string {
    return this.#habits.basePath ?? '/api';
  }

  get url(): string {
    return `${this.#habits.tls ? 'https' : 'http'}://127.0.0.1:${this.port}${this.basePath}`;
  }

  /** Opens a session. */
  issue(authIv?: string): string {
    const token = this.#habits.newToken?.(this.#issued) ?? `the-token-${this.#issued}`;
    this.#issued += 1;
    this.sessions.set(token, authIv);
    return token;
  }

  record(token: string | undefined): OddReply {
    return json({
      username: 'ann',
      email: 'ann@example.com',
      role: 'hiring_manager',
      ccl_info: { client_id: 7 },
      auth_token: token,
    });
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const call = this.#callOf(request, Buffer.concat(chunks).toString());
    this.calls += 1;
    if (call.operation === 'sign_in') this.signIns.push(call.username);
    const usual = this.#usual(call, Buffer.concat(chunks).toString());
    const { answer, write } = this.#habits;
    const reply = answer?.(usual, call, this) ?? usual;
    if (write?.(reply, call, response, request.socket)) return;
    response.writeHead(reply.status, reply.headers).end(reply.body);
  }

  #callOf({ method, url: path = '', headers }: IncomingMessage, body: string): OddCall {
    const operations = { POST: 'sign_in', GET: 'user_details', DELETE: 'sign_out' } as const;
    const operation = operations[method as keyof typeof operations];
    const expected = `${this.basePath}/authentication${operation === 'user_details' ? '/user_details' : ''}`;
    const header = (name: string): string | undefined => headers[name] as string | undefined;
    const token = header('x-auth-token');
    return {
      operation: path === expected ? operation : 'none',
      path,
      key: header('x-api-key'),
      token,
      authIv: header('x-auth-iv'),
      username:
        operation === 'sign_in' && body !== ''
          ? (JSON.parse(body) as { username: string }).username
          : undefined,
      isSession: token !== undefined && this.sessions.has(token),
      number: this.calls,
    };
  }

  #usual({ operation, key, token, authIv, isSession }: OddCall, body: string): OddReply {
    if (operation === 'none') return json({ error: 'no such path' }, 404);
    if (key !== API_KEY) return { status: 403 };
    if (operation === 'sign_in') {
      const { username, password } = JSON.parse(body) as typeof USER;
      return username === USER.username && password === USER.password
        ? this.record(this.issue(authIv))
        : { status: 401 };
    }
    if (!isSession || token === undefined) return { status: 401 };
    if (operation === 'user_details') return this.record(token);
    this.sessions.delete(token);
    return { status: 200 };
  }
}

export function json(value: object, status = 200, headers: Readonly<Record<string, string>> = {}): OddReply {
  return { status, body: JSON.stringify(value), headers: { 'content-type': 'application/json', ...headers } };
}
