import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export const API_KEY = 'the-application-key';
export const ANN = { username: 'ann', password: 'the password of ann' };
export const BOB = { username: 'bob', password: 'the password of bob' };
export const EVE = { username: 'eve', password: 'the password of eve' };

/** A request. Header names are in lower case. */
export interface ServedCall {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Names and values as they were sent. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface ServedReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** How a service breaks the contract. */
export interface Fault {
  /** Changes a request before the service reads it. */
  readonly request?: (call: ServedCall) => ServedCall;
  /** Changes a reply. A promise delays it. */
  readonly reply?: (
    usual: ServedReply,
    call: ServedCall,
    service: ContractService,
  ) => ServedReply | Promise<ServedReply>;
}

/** A session service that keeps the contract, but for its fault. */
export class ContractService {
  /** Users, by the tokens of their sessions. */
  readonly sessions = new Map<string, string>();
  /** Sign-ins with a well-formed username and password. */
  readonly signIns: (typeof ANN)[] = [];
  calls = 0;
  readonly #fault: Fault;
  readonly #server: Server;

  private constructor(fault: Fault) {
    this.#fault = fault;
    this.#server = createServer((request, response) => {
      const { method = '', url: path = '', rawHeaders } = request;
      const headers = request.headers as ServedCall['headers'];
      void text(request).then(async (body) => {
        const {
          status,
          headers: answered,
          body: content,
        } = await this.#reply({ method, path, headers, rawHeaders, body });
        response.writeHead(status, answered).end(content);
      });
    });
  }

  static async start(fault: Fault = {}): Promise<ContractService> {
    const service = new ContractService(fault);
    service.#server.listen(0, '127.0.0.1');
    await once(service.#server, 'listening');
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  record(username: string, token: string): ServedReply {
    const names = {
      first_name: 'First',
      last_name: 'Last',
      email: `${username}@example.com`,
      client_name: 'Client',
      display_label: 'Label',
    };
    const flags = { help_checkbox: true, benestream_enabled: false, ats_enabled: true, obs_enabled: false };
    const ids = { client_id: 1, company_id: 2, location_id: 3 };
    const roles = { role: 'hiring_manager', sub_role: 'approver', preffered_language: 'en' };
    return json({ username, ...names, ...roles, ...flags, ccl_info: ids, auth_token: token });
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #reply(call: ServedCall): Promise<ServedReply> {
    this.calls += 1;
    const { request = (unchanged) => unchanged, reply = (usual) => usual } = this.#fault;
    const read = request(call);
    return reply(this.#usual(read), call, this);
  }

  #usual({ method, path, headers, body }: ServedCall): ServedReply {
    const operation = `${method} ${path}`;
    if (
      !/^(POST \/authentication\/?|DELETE \/authentication|GET \/authentication\/user_details)$/.test(
        operation,
      )
    )
      return { status: 404 };
    if (headers['x-api-key'] !== API_KEY) return { status: 403 };
    if (method === 'POST') return this.#signIn(headers['content-type'] ?? '', body);
    const token = headers['x-auth-token'] ?? '';
    const username = this.sessions.get(token);
    if (username === undefined) return { status: 401 };
    if (method === 'GET') return this.record(username, token);
    this.sessions.delete(token);
    return { status: 200 };
  }

  #signIn(type: string, body: string): ServedReply {
    const account = /^application\/json\s*(;|$)/.test(type) ? accountIn(body) : undefined;
    if (!account) return { status: 400 };
    this.signIns.push(account);
    const known = [ANN, BOB, EVE].find(
      ({ username, password }) => username === account.username && password === account.password,
    );
    if (!known) return { status: 401 };
    if (known === EVE) return { status: 202 };
    const token = randomUUID();
    this.sessions.set(token, known.username);
    return this.record(known.username, token);
  }
}

export function json(value: object): ServedReply {
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(value),
  };
}

function accountIn(body: string): typeof ANN | undefined {
  try {
    const value = JSON.parse(body) as unknown;
    if (typeof value !== 'object' || value === null) return undefined;
    const [username, password] = ['username', 'password'].map((name) =>
      Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : '',
    );
    return typeof username === 'string' && typeof password === 'string' && username && password
      ? { username, password }
      : undefined;
  } catch {
    return undefined;
  }
}
