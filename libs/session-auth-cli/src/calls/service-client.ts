import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import { BodyBuffer, isReadable } from '../../../session-auth/src/client/reply.js';
import {
  API_KEY_HEADER,
  AUTH_IV_HEADER,
  AUTH_TOKEN_HEADER,
  AUTHENTICATION_PATH,
  USER_DETAILS_PATH,
} from '../../../session-auth/src/contract/wire.js';
import { type Answer, INTERRUPTED, type ReplyAnswer, statusOf, tokenIn } from './answer.js';

export type Headers = Readonly<Record<string, string>>;

export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers?: Headers;
  readonly body?: string | undefined;
}

export interface Account {
  readonly username: string;
  readonly password: string;
}

export interface OpenSession {
  readonly authIv: string | undefined;
  /** Tokens of the session, as issued: later ones replaced earlier ones. */
  readonly tokens: string[];
}

export interface ServiceSettings {
  /** Root of the service, without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  /** Milliseconds for connection, reply and body of each call. */
  readonly timeoutMs: number;
  readonly interrupted?: AbortSignal;
}

/**
 * Bytes of a body that are read: more than the library reads by default, so that a larger limit can be
 * advised.
 */
const MAX_BODY_BYTES = 4_194_304;

/**
 * The calls of a command, without a redirect followed. Knows the sessions that they opened. After an
 * interruption, it only signs out. `Result`: the answers that `send()` returns; a class that extends it may
 * throw for others.
 */
export class ServiceClient<Result extends Answer = Answer> {
  readonly answers: Answer[] = [];
  readonly #settings: ServiceSettings;
  readonly #agents: Readonly<Record<string, http.Agent>>;
  readonly #sessions = new Set<OpenSession>();

  /**
   * `keepAlive`: user details are read over kept connections, as the library does. Otherwise, each call has
   * its own.
   */
  constructor(settings: ServiceSettings, { keepAlive = false } = {}) {
    this.#settings = settings;
    this.#agents = keepAlive
      ? { 'http:': new http.Agent({ keepAlive }), 'https:': new https.Agent({ keepAlive }) }
      : {};
  }

  get url(): string {
    return this.#settings.url;
  }

  get apiKey(): string {
    return this.#settings.apiKey;
  }

  get isInterrupted(): boolean {
    return this.#settings.interrupted?.aborted ?? false;
  }

  /** Sends a request with no header but `Accept`, `Accept-Encoding` and those given. */
  async send(request: ServiceRequest): Promise<Result> {
    return (await this.#send(request)) as Result;
  }

  call({ headers, ...request }: ServiceRequest): Promise<Result> {
    return this.send({ ...request, headers: { [API_KEY_HEADER]: this.apiKey, ...headers } });
  }

  post(body: string | undefined, headers: Headers = {}, path = AUTHENTICATION_PATH): Promise<Result> {
    return this.call({
      method: 'POST',
      path,
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
    });
  }

  signIn({ username, password }: Account, headers?: Headers, path?: string): Promise<Result> {
    return this.post(JSON.stringify({ username, password }), headers, path);
  }

  userDetails(token: string, headers: Headers = {}, path = USER_DETAILS_PATH): Promise<Result> {
    return this.call({ method: 'GET', path, headers: { [AUTH_TOKEN_HEADER]: token, ...headers } });
  }

  signOut(token: string, headers: Headers = {}): Promise<Result> {
    return this.call({
      method: 'DELETE',
      path: AUTHENTICATION_PATH,
      headers: { [AUTH_TOKEN_HEADER]: token, ...headers },
    });
  }

  /** Returns the session of a token, unless it was signed out. */
  sessionOf(token: string | undefined): OpenSession | undefined {
    return [...this.#sessions].find(({ tokens }) => token !== undefined && tokens.includes(token));
  }

  /**
   * Signs out every session that is still open, also after an interruption. Returns the number of failures.
   */
  async endSessions(): Promise<number> {
    let left = 0;
    for (const session of this.#sessions) if (!(await this.#end(session))) left += 1;
    this.#sessions.clear();
    return left;
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  async #send(request: ServiceRequest): Promise<Answer> {
    const { method, headers = {} } = request;
    if (this.isInterrupted && method !== 'DELETE')
      return this.#record({ kind: 'failure', code: INTERRUPTED, totalMs: 0, reused: false });
    const agent = method === 'GET' ? this.#agents[new URL(this.url).protocol] : undefined;
    let answer = this.#record(await this.#exchange(request, agent));
    // A call on a connection that the service had closed in the meantime is repeated once, as the library
    // does.
    if (
      answer.kind === 'failure' &&
      answer.reused &&
      answer.code !== 'TIMEOUT' &&
      answer.code !== INTERRUPTED
    )
      answer = this.#record(await this.#exchange(request, undefined));
    const opened =
      answer.kind === 'reply' && method === 'POST' && answer.status < 300 ? tokenIn(answer) : undefined;
    if (opened !== undefined) this.#sessions.add({ authIv: headers[AUTH_IV_HEADER], tokens: [opened] });
    const ended =
      method === 'DELETE' && (statusOf(answer) ?? 500) < 300
        ? this.sessionOf(headers[AUTH_TOKEN_HEADER])
        : undefined;
    if (ended) this.#sessions.delete(ended);
    return answer;
  }

  async #end({ tokens, authIv }: OpenSession): Promise<boolean> {
    let isRefused = false;
    for (const token of tokens.toReversed()) {
      const iv = authIv === undefined ? undefined : { [AUTH_IV_HEADER]: authIv };
      const headers = { [API_KEY_HEADER]: this.apiKey, [AUTH_TOKEN_HEADER]: token, ...iv };
      const status = statusOf(await this.#send({ method: 'DELETE', path: AUTHENTICATION_PATH, headers }));
      if (status === 200 || status === 202 || status === 204) return true;
      isRefused ||= status === 401 || status === 404;
    }
    return isRefused;
  }

  /**
   * Never rejects. Neither a sign-in nor a sign-out is interrupted once sent: the reply of a sign-in holds
   * the token that its session must be ended with.
   */
  async #exchange(request: ServiceRequest, agent: http.Agent | undefined): Promise<Answer> {
    const startedAt = performance.now();
    const limit = AbortSignal.timeout(this.#settings.timeoutMs);
    const early = request.method === 'GET' ? this.#settings.interrupted : undefined;
    let sent: http.ClientRequest | undefined;
    let cause: unknown;
    const times = (): { totalMs: number; reused: boolean } => ({
      totalMs: performance.now() - startedAt,
      reused: sent?.reusedSocket ?? false,
    });
    try {
      sent = this.#open(request, {
        agent: agent ?? false,
        signal: AbortSignal.any(early ? [limit, early] : [limit]),
      });
      // It may also come after the head of the reply.
      sent.on('error', (error) => (cause ??= error));
      const [reply] = (await once(sent.end(request.body), 'response')) as [http.IncomingMessage];
      const firstByteMs = times().totalMs;
      const read = await bodyOf(reply);
      if (!read) return { kind: 'failure', code: 'TOO_LARGE', ...times() };
      return {
        kind: 'reply',
        status: reply.statusCode ?? 0,
        headers: reply.headers,
        ...read,
        firstByteMs,
        ...times(),
      };
    } catch (error) {
      const code = limit.aborted ? 'TIMEOUT' : early?.aborted ? INTERRUPTED : codeOf(cause ?? error);
      return { kind: 'failure', code, ...times() };
    }
  }

  #open({ method, path, headers }: ServiceRequest, options: http.RequestOptions): http.ClientRequest {
    const url = new URL(`${this.url}${path}`);
    const all = { Accept: 'application/json', 'Accept-Encoding': 'identity', ...headers };
    return (url.protocol === 'https:' ? https : http).request(url, { ...options, method, headers: all });
  }

  #record(answer: Answer): Answer {
    this.answers.push(answer);
    return answer;
  }
}

/** Reads a body; `undefined` if it is too large. */
async function bodyOf(reply: http.IncomingMessage): Promise<Pick<ReplyAnswer, 'body' | 'bytes'> | undefined> {
  const body = new BodyBuffer();
  for await (const chunk of reply as AsyncIterable<Buffer>)
    if (!body.append(chunk, MAX_BODY_BYTES)) return undefined;
  const { bytes } = body;
  return { body: isReadable(reply.headers, MAX_BODY_BYTES) ? bytes : undefined, bytes: bytes.length };
}

function codeOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && /^[A-Z][A-Z\d_]{1,59}$/.test(code) ? code : 'INVALID_REPLY';
}
