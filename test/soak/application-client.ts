import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { MAX_REPLY_MS } from './settings.js';
import type { Stalls } from './stalls.js';

/** What a caller sends. */
export interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly token?: string | undefined;
  readonly body?: object;
  /** Ends the request before its reply. */
  readonly signal?: AbortSignal;
}

/** A whole reply, and when it was there. */
export interface SeenReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly sentAt: number;
  readonly repliedAt: number;
  /** Of the time between, what a busy machine kept from this process. */
  readonly stalledMs: number;
}

/** A caller of one application, over connections that it keeps. */
export class ApplicationClient {
  readonly #url: string;
  readonly #stalls: Stalls;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(url: string, stalls: Stalls) {
    this.#url = url;
    this.#stalls = stalls;
  }

  /** Sends a request. Fails when there is no whole reply, also long after it is due. */
  send({ method = 'GET', path, token, body, signal }: Sent): Promise<SeenReply> {
    const sentAt = performance.now();
    const lostBefore = this.#stalls.lostMs;
    const headers = {
      ...(token !== undefined && { 'x-auth-token': token }),
      ...(body && { 'content-type': 'application/json' }),
    };
    return new Promise((resolve, reject) => {
      const options = { method, headers, agent: this.#agent, timeout: 2 * MAX_REPLY_MS, ...(signal && { signal }) };
      const sending = request(`${this.#url}${path}`, options, (response) => {
        const { statusCode: status = 0, headers: received } = response;
        text(response).then(
          (read) => {
            const stalledMs = this.#stalls.lostMs - lostBefore;
            resolve({ status, headers: received, body: read, sentAt, repliedAt: performance.now(), stalledMs });
          },
          (error: unknown) => reject(error as Error),
        );
      });
      sending.on('timeout', () => sending.destroy(new Error('no reply long after it is due')));
      sending.on('error', reject);
      sending.end(body && JSON.stringify(body));
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
