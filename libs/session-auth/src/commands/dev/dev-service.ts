import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP, type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { API_KEY_HEADER, AUTHENTICATION_PATH, AUTH_TOKEN_HEADER, USER_DETAILS_PATH } from '../../contract/wire.js';
import { CONTROL_PATH, DevControls } from './dev-controls.js';
import type { DevFault, DevFaults } from './dev-faults.js';
import { readDevRequest, type DevReply, type DevRequest } from './dev-request.js';
import { DevSessions } from './dev-sessions.js';
import type { DevUser } from './dev-users.js';

const KEY = API_KEY_HEADER.toLowerCase();
const TOKEN = AUTH_TOKEN_HEADER.toLowerCase();
const HOST = /^(?:\[([\da-f:.]+)\]|([a-z\d_.-]+?)\.?)(?::\d{0,5})?$/i;
const FOREIGN: DevReply = {
  status: 421,
  json: { message: 'This host is not known. Use localhost or an IP address, or start dev with --allow-host NAME.' },
};

/** Options of {@link DevService}. */
export interface DevServiceOptions {
  readonly host: string;
  readonly port: number;
  /** Names that it answers to, besides `host`, localhost and IP addresses. */
  readonly allowedHosts: readonly string[];
  /** The only accepted application key. Without it, any key is accepted. */
  readonly apiKey: string | undefined;
  readonly users: readonly DevUser[];
  /** Called for each request with its status or fault, and nothing secret. */
  readonly onAnswer: (request: Pick<DevRequest, 'method' | 'path'>, answer: DevFault) => void;
}

/** The interface of the User Session Service for development: in memory, with control endpoints. */
export class DevService {
  readonly #faults: DevFaults = { delayMs: 0, fault: undefined };
  readonly #sessions: DevSessions;
  readonly #controls: DevControls;
  readonly #server: Server;
  readonly #options: DevServiceOptions;
  readonly #hosts: ReadonlySet<string>;

  private constructor(options: DevServiceOptions) {
    this.#options = options;
    this.#hosts = new Set(['localhost', options.host, ...options.allowedHosts].map((host) => host.toLowerCase()));
    this.#sessions = new DevSessions(options.users);
    this.#controls = new DevControls(this.#sessions, this.#faults);
    this.#server = createServer((incoming, response) => {
      // A request that its client aborts is ignored.
      this.#serve(incoming, response).catch(() => undefined);
    });
  }

  /** Starts the service. Rejects with the error of the server if it can't listen. */
  static async start(options: DevServiceOptions): Promise<DevService> {
    const service = new DevService(options);
    service.#server.listen(options.port, options.host);
    await once(service.#server, 'listening');
    return service;
  }

  /** Port that the service listens on. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Closes all connections, and frees the port. */
  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readDevRequest(incoming);
    const isControl = request.path === CONTROL_PATH || request.path.startsWith(`${CONTROL_PATH}/`);
    const reply = !this.#isOwn(request) ? FOREIGN : isControl ? this.#controls.answer(request) : await this.#answer(request);
    this.#options.onAnswer(request, typeof reply === 'object' ? reply.status : reply);
    if (reply === 'silence') return;
    if (reply === 'reset') return void incoming.socket.resetAndDestroy();
    response.statusCode = reply.status;
    response.setHeader('cache-control', request.path === USER_DETAILS_PATH ? 'private' : 'no-store');
    if (reply.json) response.setHeader('content-type', 'application/json');
    response.end(reply.json && JSON.stringify(reply.json));
  }

  /** A page can point its own name at this machine (DNS rebinding); the browser then sends this name as the host. */
  #isOwn({ headers: { host = '' } }: DevRequest): boolean {
    const [, address, text] = HOST.exec(host) ?? [];
    const name = address ?? text?.toLowerCase();
    if (name === undefined) return false;
    return isIP(name) !== 0 || name.endsWith('.localhost') || this.#hosts.has(name);
  }

  async #answer(request: DevRequest): Promise<DevReply | Exclude<DevFault, number>> {
    await delay(this.#faults.delayMs, undefined, { ref: false });
    const { fault } = this.#faults;
    if (fault === undefined) return this.#replyTo(request);
    return typeof fault === 'number' ? { status: fault } : fault;
  }

  /** The statuses are those of the reference implementation, where the interface leaves them open. */
  #replyTo({ method, path, headers, isJson, body }: DevRequest): DevReply {
    const { apiKey } = this.#options;
    if (!headers[KEY] || (apiKey !== undefined && headers[KEY] !== apiKey)) return { status: 403 };
    const token = String(headers[TOKEN]);
    switch (`${method} ${path}`) {
      case `POST ${AUTHENTICATION_PATH}`:
        return this.#signIn(isJson ? body : undefined);
      case `GET ${USER_DETAILS_PATH}`:
        return found(this.#sessions.recordOf(token));
      case `DELETE ${AUTHENTICATION_PATH}`:
        return { status: this.#sessions.revoke(token) ? 200 : 401 };
      default:
        return { status: 404 };
    }
  }

  #signIn({ username, password }: NonNullable<DevRequest['body']> = {}): DevReply {
    if (typeof username !== 'string' || typeof password !== 'string' || !username || !password) return { status: 400 };
    return found(this.#sessions.signIn(username, password));
  }
}

function found(record: object | undefined): DevReply {
  return record ? { status: 200, json: record } : { status: 401 };
}
