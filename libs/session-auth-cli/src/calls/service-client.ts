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
import { type Answer, INTERRUPTED, statusOf, tokenIn } from './answer.js';

export type Headers = Readonly<Record<string, string>>;

export const JSON_TYPE = { 'Content-Type': 'application/json' };

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
  readonly token: string;
  readonly authIv: string | undefined;
  /** Tokens that replaced that of the sign-in, in order. */
  readonly laterTokens: string[];
}

export interface ServiceSettings {
  /** Root of the service, without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly interrupted?: AbortSignal;
}

/** More than the library reads by default, so that a larger limit can be advised. */
const MAX_BODY_BYTES = 4_194_304;

/** The calls of a command. They follow no redirect. After an interruption, it only signs out. */
export class ServiceClient {
  readonly answers: Answer[] = [];
  readonly settings: ServiceSettings;
  readonly #protocol: typeof http | typeof https;
  readonly #agent: http.Agent | undefined;
  readonly #sessions = new Map<string, OpenSession>();

  /** `keepAlive`: user details are read over kept connections, as the library does. */
  constructor(settings: ServiceSettings, { keepAlive = false } = {}) {
    this.settings = settings;
    this.#protocol = settings.url.startsWith('https:') ? https : http;
    this.#agent = keepAlive ? new this.#protocol.Agent({ keepAlive }) : undefined;
  }

  get isInterrupted(): boolean {
    return this.settings.interrupted?.aborted ?? false;
  }

  call({ headers, ...request }: ServiceRequest): Promise<Answer> {
    return this.send({ ...request, headers: { [API_KEY_HEADER]: this.settings.apiKey, ...headers } });
  }

  post(body: string | undefined, headers: Headers = {}, path = AUTHENTICATION_PATH): Promise<Answer> {
    return this.call({ method: 'POST', path, headers: { ...JSON_TYPE, ...headers }, body });
  }

  signIn({ username, password }: Account, headers?: Headers, path?: string): Promise<Answer> {
    return this.post(JSON.stringify({ username, password }), headers, path);
  }

  userDetails(token: string, headers: Headers = {}, path = USER_DETAILS_PATH): Promise<Answer> {
    return this.call({ method: 'GET', path, headers: { [AUTH_TOKEN_HEADER]: token, ...headers } });
  }

  signOut(token: string, headers: Headers = {}): Promise<Answer> {
    const path = AUTHENTICATION_PATH;
    return this.call({ method: 'DELETE', path, headers: { [AUTH_TOKEN_HEADER]: token, ...headers } });
  }

  /** Returns the open session of a sign-in. */
  sessionOf(signIn: Answer): OpenSession | undefined {
    return signIn.kind === 'reply' ? this.#sessions.get(tokenIn(signIn) ?? '') : undefined;
  }

  /** Signs out every session that is still open. Returns the number of failures. */
  async endSessions(): Promise<number> {
    let left = 0;
    for (const session of this.#sessions.values()) if (!(await this.#end(session))) left += 1;
    this.#sessions.clear();
    return left;
  }

  close(): void {
    this.#agent?.destroy();
  }

  /** Sends a request without the application key. */
  async send(request: ServiceRequest): Promise<Answer> {
    const { method, headers = {} } = request;
    const isSignIn = method === 'POST';
    if (this.isInterrupted && method !== 'DELETE')
      return this.#record({ kind: 'failure', code: INTERRUPTED, reused: false, isSignIn });
    const answer = this.#record(await this.#exchange(request, method === 'GET' ? this.#agent : undefined));
    // The library also repeats a call on a connection that the service had closed in the meantime.
    if (answer.kind === 'failure')
      return answer.reused && answer.code !== 'TIMEOUT' && answer.code !== INTERRUPTED
        ? this.#record(await this.#exchange(request, undefined))
        : answer;
    const token = isSignIn && answer.status < 300 ? tokenIn(answer) : undefined;
    if (token !== undefined)
      this.#sessions.set(token, { token, authIv: headers[AUTH_IV_HEADER], laterTokens: [] });
    if (method === 'DELETE' && answer.status < 300) this.#sessions.delete(headers[AUTH_TOKEN_HEADER] ?? '');
    return answer;
  }

  async #end({ token, authIv, laterTokens }: OpenSession): Promise<boolean> {
    let isRefused = false;
    for (const presented of [token, ...laterTokens].toReversed()) {
      const iv = authIv === undefined ? {} : { [AUTH_IV_HEADER]: authIv };
      const status = statusOf(await this.signOut(presented, iv));
      if (status === 200 || status === 202 || status === 204) return true;
      isRefused ||= status === 401 || status === 404;
    }
    return isRefused;
  }

  /** Only reads are interrupted: the reply of a sign-in holds the token that its session must be ended with. */
  async #exchange(request: ServiceRequest, agent: http.Agent | undefined): Promise<Answer> {
    const { method, path, headers } = request;
    const startedAt = performance.now();
    const limit = AbortSignal.timeout(this.settings.timeoutMs);
    const early = method === 'GET' ? this.settings.interrupted : undefined;
    let sent: http.ClientRequest | undefined;
    let cause: unknown;
    const failure = (code: string): Answer => ({
      kind: 'failure',
      code,
      reused: sent?.reusedSocket ?? false,
      isSignIn: method === 'POST',
    });
    try {
      sent = this.#protocol.request(new URL(`${this.settings.url}${path}`), {
        method,
        headers: { Accept: 'application/json', 'Accept-Encoding': 'identity', ...headers },
        agent: agent ?? false,
        signal: AbortSignal.any(early ? [limit, early] : [limit]),
      });
      // It may also come after the head of the reply.
      sent.on('error', (error) => (cause ??= error));
      const [reply] = (await once(sent.end(request.body), 'response')) as [http.IncomingMessage];
      const firstByteMs = performance.now() - startedAt;
      const bytes = await bytesOf(reply);
      if (!bytes) return failure('TOO_LARGE');
      const { statusCode: status = 0, headers: answered } = reply;
      const body = isReadable(answered, MAX_BODY_BYTES) ? bytes : undefined;
      const totalMs = performance.now() - startedAt;
      const { length } = bytes;
      const { reusedSocket: reused } = sent;
      return { kind: 'reply', status, headers: answered, body, bytes: length, firstByteMs, totalMs, reused };
    } catch (error) {
      return failure(limit.aborted ? 'TIMEOUT' : early?.aborted ? INTERRUPTED : codeOf(cause ?? error));
    }
  }

  #record(answer: Answer): Answer {
    this.answers.push(answer);
    return answer;
  }
}

async function bytesOf(reply: AsyncIterable<Buffer>): Promise<Buffer | undefined> {
  const body = new BodyBuffer();
  for await (const chunk of reply) if (!body.append(chunk, MAX_BODY_BYTES)) return undefined;
  return body.bytes;
}

function codeOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && /^[A-Z][A-Z\d_]{1,59}$/.test(code) ? code : 'INVALID_REPLY';
}
