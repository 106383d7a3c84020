import * as http from 'node:http';
import * as https from 'node:https';
import { API_KEY_HEADER, AUTH_IV_HEADER, AUTH_TOKEN_HEADER, AUTHENTICATION_PATH, USER_DETAILS_PATH } from '../../../contract/wire.js';
import { type Answer, type FailedAnswer, INTERRUPTED } from '../../calls/answer.js';
import { type Call, exchange } from '../../calls/exchange.js';

/** The headers of a call. `null`: the header is not sent. */
interface Presented {
  readonly token?: string | null;
  readonly authIv?: string | undefined;
  /** @default the application key */
  readonly apiKey?: string | null;
  /** Sent after the path of the interface. */
  readonly suffix?: string;
  /** Sent between the base URL and the path of the interface. */
  readonly prefix?: string;
}

/** Settings of the calls. */
interface CallSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
  readonly interrupted: AbortSignal;
}

const NOT_SENT: FailedAnswer = { kind: 'failure', code: INTERRUPTED, totalMs: 0, reused: false };
const ACCEPT = { Accept: 'application/json', 'Accept-Encoding': 'identity' };

/** The calls of the examination, with the headers that the library sends, over connections that are kept. */
export class ServiceCalls {
  /** Root of the service, without a trailing slash. A redirect within the origin, or to https of the host, changes it. */
  baseUrl: string;
  /** Every answer, in order. */
  readonly answers: Answer[] = [];
  readonly #settings: CallSettings;
  readonly #agents = { 'http:': new http.Agent({ keepAlive: true }), 'https:': new https.Agent({ keepAlive: true }) };

  constructor(settings: CallSettings) {
    this.baseUrl = settings.baseUrl;
    this.#settings = settings;
  }

  /** Whether the user has interrupted the examination. */
  get isInterrupted(): boolean {
    return this.#settings.interrupted.aborted;
  }

  userDetails(presented: Presented): Promise<Answer> {
    const path = `${presented.prefix ?? ''}${USER_DETAILS_PATH}${presented.suffix ?? ''}`;
    return this.#send({ method: 'GET', path, presented, signal: this.#settings.interrupted });
  }

  /** Signs in. Not interrupted once sent: the reply holds the token that the session must be ended with. */
  signIn(username: string, password: string, authIv?: string): Promise<Answer> {
    if (this.isInterrupted) return Promise.resolve(this.#record(NOT_SENT));
    const body = JSON.stringify({ username, password });
    return this.#send({ method: 'POST', path: AUTHENTICATION_PATH, presented: { token: null, authIv }, body });
  }

  /** Signs out, also after an interruption. */
  signOut(token: string, authIv?: string): Promise<Answer> {
    return this.#send({ method: 'DELETE', path: AUTHENTICATION_PATH, presented: { token, authIv } });
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  async #send({
    path,
    presented,
    ...call
  }: Pick<Call, 'method' | 'body' | 'signal'> & { path: string; presented: Presented }): Promise<Answer> {
    const url = new URL(`${this.baseUrl}${path}`);
    const { token = null, authIv, apiKey = this.#settings.apiKey } = presented;
    const headers = {
      ...ACCEPT,
      ...(apiKey !== null && { [API_KEY_HEADER]: apiKey }),
      ...(token !== null && { [AUTH_TOKEN_HEADER]: token }),
      ...(authIv !== undefined && { [AUTH_IV_HEADER]: authIv }),
      ...(call.body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(call.body)) }),
    };
    const request: Call = { ...call, url, headers, timeoutMs: this.#settings.timeoutMs };
    return this.#exchange(request);
  }

  /** A call on a connection that the service had closed in the meantime is repeated once, as the library does. Never a sign-in or a sign-out. */
  async #exchange(call: Call): Promise<Answer> {
    const agent = this.#agents[call.url.protocol as 'http:' | 'https:'];
    const kept = call.method === 'GET' ? agent : freshAgentLike(agent);
    const answer = await exchange(call, kept);
    this.#record(answer);
    if (answer.kind === 'reply' || !answer.reused || answer.code === 'TIMEOUT' || answer.code === INTERRUPTED) return answer;
    return this.#record(await exchange(call, freshAgentLike(agent)));
  }

  #record(answer: Answer): Answer {
    this.answers.push(answer);
    return answer;
  }
}

/** One connection for one call: the service may just have closed a kept one. */
function freshAgentLike(agent: http.Agent): http.Agent {
  return agent instanceof https.Agent ? new https.Agent() : new http.Agent();
}
