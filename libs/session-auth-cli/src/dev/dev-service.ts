import { isIP } from 'node:net';
import { API_KEY_HEADER } from '../../../session-auth/src/contract/wire.js';
import { jsonObjectIn } from '../../../session-auth/src/testing/received-request.js';
import { ScriptedSessionService } from '../../../session-auth/src/testing/scripted-session-service.js';
import {
  afterDelay,
  drop,
  json,
  reply,
  type Script,
  type SeenRequest,
  silence,
} from '../../../session-auth/src/testing/scripts.js';

export const CONTROL_PATH = '/_dev';

const MAX_DELAY_MS = 600_000;
const KEY = API_KEY_HEADER.toLowerCase();
const HOST = /^(?:\[([\da-f:.]+)\]|([a-z\d_.-]+?)\.?)(?::\d{0,5})?$/i;
const FOREIGN = refusal(
  421,
  'This host is not known. Use localhost or an IP address, or start dev with --allow-host NAME.',
);

/** A status, or how no answer comes. */
type Fault = number | 'reset' | 'silence';

export interface DevUser {
  readonly password: string;
  /** The record of the user, without a token. */
  readonly record: { readonly username: string } & Readonly<Record<string, unknown>>;
}

export interface DevServiceOptions {
  readonly host: string;
  /** Names that it answers to, besides `host`, localhost and IP addresses. */
  readonly allowedHosts: readonly string[];
  readonly apiKey: string | undefined;
  readonly users: readonly DevUser[];
  readonly onAnswer: (method: string, path: string, answer: Fault) => void;
}

type Body = Readonly<Record<string, unknown>>;

/**
 * The session service of the test kit, which also checks application keys and hosts, and has control
 * endpoints for tests of front ends. Each returns the state, or 400 with the remedy.
 */
export class DevService extends ScriptedSessionService {
  readonly #options: DevServiceOptions;
  readonly #hosts: ReadonlySet<string>;
  #delayMs = 0;
  #fault: Fault | undefined;

  constructor(options: DevServiceOptions) {
    super();
    this.#options = options;
    this.#hosts = new Set(
      ['localhost', options.host, ...options.allowedHosts].map((host) => host.toLowerCase()),
    );
    for (const { password, record } of options.users)
      this.addUser({ username: record.username, password }, record);
  }

  open(port: number): Promise<void> {
    return this.listen(port, this.#options.host);
  }

  override get url(): string {
    const { host } = this.#options;
    return `http://${host.includes(':') ? `[${host}]` : host}:${this.port}`;
  }

  protected override scriptFor(request: SeenRequest): Script {
    // This service may run for days, and counts no requests.
    this.requests.length = 0;
    const path = request.path.replace(/[?].*$/s, '');
    if (!this.#isOwn(request)) return this.#reporting(path, FOREIGN);
    if (path === CONTROL_PATH || path.startsWith(`${CONTROL_PATH}/`))
      return this.#reporting(path, this.#control(request, path));
    const fault = this.#fault;
    const answer = fault === undefined ? this.#answer(request) : scriptOf(fault);
    const script = this.#reporting(path, answer, fault);
    return this.#delayMs > 0 ? afterDelay(this.#delayMs, script) : script;
  }

  #answer(request: SeenRequest): Script {
    const { apiKey } = this.#options;
    const { [KEY]: key } = request.headers;
    return !key || (apiKey && key !== apiKey) ? reply(403) : super.scriptFor(request);
  }

  /** A page can point its own name at this machine (DNS rebinding); the browser then sends it as the host. */
  #isOwn({ headers: { host = '' } }: SeenRequest): boolean {
    const [, address, text] = HOST.exec(host) ?? [];
    const name = address ?? text?.toLowerCase();
    if (name === undefined) return false;
    return isIP(name) !== 0 || name.endsWith('.localhost') || this.#hosts.has(name);
  }

  #reporting(path: string, script: Script, fault?: Fault): Script {
    return (request, response, socket) => {
      script(request, response, socket);
      this.#options.onAnswer(request.method, path, fault ?? response.statusCode);
    };
  }

  #control(request: SeenRequest, path: string): Script {
    if (request.method === 'GET' && path === CONTROL_PATH) return this.#state();
    const action = path.slice(CONTROL_PATH.length + 1);
    if (request.method !== 'POST' || !['revoke', 'delay', 'fail', 'reset'].includes(action))
      return reply(404);
    const body = jsonObjectIn(request);
    // A page of another origin can send any other type without asking the browser.
    if (body === undefined) return refusal(400, 'Send a JSON object with content-type: application/json.');
    const mistake = this.#change(action, body);
    return mistake === undefined ? this.#state() : refusal(400, mistake);
  }

  /** Returns what to send instead, if the body is not valid. */
  #change(action: string, { token, username, ms, as }: Body): string | undefined {
    if (action === 'reset') {
      this.book.endUser();
      [this.#delayMs, this.#fault] = [0, undefined];
    } else if (action === 'delay') {
      if (typeof ms !== 'number' || ms < 0 || ms > MAX_DELAY_MS) return 'Send {"ms": 0} to {"ms": 600000}.';
      this.#delayMs = ms;
    } else if (action === 'fail') {
      if (as !== null && !isFault(as))
        return 'Send {"as": 503} (400 to 599), {"as": "reset"}, {"as": "silence"}, or {"as": null} to end it.';
      this.#fault = as ?? undefined;
    } else if (typeof token === 'string') this.revoke(token);
    else if (token !== undefined || !(username === undefined || typeof username === 'string'))
      return 'Send {"token": "..."}, {"username": "..."}, or {} for all sessions.';
    else this.book.endUser(username);
    return undefined;
  }

  #state(): Script {
    const users = this.#options.users.map(({ record }) => record);
    return json({ users, sessions: this.book.size, delay: this.#delayMs, fail: this.#fault ?? null });
  }
}

function isFault(value: unknown): value is Fault {
  return (
    value === 'reset' ||
    value === 'silence' ||
    (Number.isInteger(value) && (value as number) >= 400 && (value as number) <= 599)
  );
}

function scriptOf(fault: Fault): Script {
  if (fault === 'reset') return drop;
  return fault === 'silence' ? silence : reply(fault);
}

function refusal(status: number, message: string): Script {
  return reply(status, JSON.stringify({ message }), { 'content-type': 'application/json' });
}
