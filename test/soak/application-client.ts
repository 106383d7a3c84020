import { once } from 'node:events';
import { Agent, request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { MAX_CALM_STALL_MS, MAX_REPLY_MS, PATIENCE_MS } from './settings.js';
import type { Stalls } from './stalls.js';

export interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly token?: string | undefined;
  /** Further headers, such as those that a browser sets. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Ends the request before its reply. */
  readonly signal?: AbortSignal;
}

export interface SeenReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly sentAt: number;
  readonly repliedAt: number;
  /** Stalls of this process in the time between. */
  readonly stalledMs: number;
  /** Whether the machine cannot have made the check fail, by a stall during it or before. */
  readonly steady: boolean;
}

/**
 * The reply to a handshake: that of a socket which opened has the status 200, and its first message as the
 * body.
 */
export interface Opened {
  readonly reply: SeenReply;
  readonly socket: WebSocket | undefined;
}

/** Time for other processes to report their stalls, before a reply counts as wrong. */
const REPORTS_MS = 100;

type Answer = Pick<SeenReply, 'status' | 'headers' | 'body'>;

/** A caller of one application, over connections that it keeps. */
export class ApplicationClient {
  readonly url: string;
  readonly #stalls: Stalls;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(url: string, stalls: Stalls) {
    this.url = url;
    this.#stalls = stalls;
  }

  /** Sends a request. Fails when there is no whole reply, also long after it is due. */
  send({ method = 'GET', path, body, signal, ...sent }: Sent): Promise<SeenReply> {
    const headers = { ...headersOf(sent), ...(body && { 'content-type': 'application/json' }) };
    const options = { method, headers, agent: this.#agent, timeout: PATIENCE_MS, ...(signal && { signal }) };
    return this.#timed(
      () =>
        new Promise((resolve, reject) => {
          const sending = request(
            `${this.url}${path}`,
            options,
            (response) => void answerOf(response).then(resolve, reject),
          );
          sending.on('timeout', () => sending.destroy(new Error('no reply long after it is due')));
          sending.on('error', reject);
          sending.end(body && JSON.stringify(body));
        }),
    );
  }

  /** Opens a socket. Fails as {@link send} does. */
  async open({ path, ...sent }: Sent): Promise<Opened> {
    const socket = new WebSocket(`${this.url.replace('http', 'ws')}${path}`, {
      headers: headersOf(sent),
      handshakeTimeout: PATIENCE_MS,
    });
    const reply = await this.#timed(async () => {
      const denied = new Promise<Answer>((resolve, reject) => {
        socket.once(
          'unexpected-response',
          (_request, response) => void answerOf(response).then(resolve, reject),
        );
      });
      const greeted = once(socket, 'message').then(([message]) => ({
        status: 200,
        headers: {},
        body: String(message),
      }));
      return Promise.race([greeted, denied]);
    });
    socket.on('error', () => undefined);
    return { reply, socket: reply.status === 200 ? socket : undefined };
  }

  /** Stalls of the processes of the soak so far, caused by a busy machine. */
  get lostMs(): number {
    return this.#stalls.lostMs;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #timed(send: () => Promise<Answer>): Promise<SeenReply> {
    const sentAt = performance.now();
    const lostBefore = this.#stalls.lostMs;
    const answer = await send();
    const repliedAt = performance.now();
    const isDoubtful = answer.status === 503 || repliedAt - sentAt > MAX_REPLY_MS / 2;
    if (isDoubtful) await delay(REPORTS_MS);
    const stalledMs = this.#stalls.lostMs - lostBefore;
    return {
      ...answer,
      sentAt,
      repliedAt,
      stalledMs,
      steady: stalledMs < MAX_CALM_STALL_MS && this.#stalls.wereShortSince(sentAt),
    };
  }
}

function headersOf({ token, headers }: Pick<Sent, 'token' | 'headers'>): Record<string, string> {
  return { ...headers, ...(token !== undefined && { 'x-auth-token': token }) };
}

async function answerOf(response: IncomingMessage): Promise<Answer> {
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}
