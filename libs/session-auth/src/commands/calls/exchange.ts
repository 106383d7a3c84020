import * as http from 'node:http';
import * as https from 'node:https';
import { BodyBuffer } from '../../client/http/bounded-body.js';
import { isReadable } from '../../client/http/reply.js';
import { type Answer, type FailedAnswer, INTERRUPTED } from './answer.js';

/** A request to the service, complete with headers and body. */
export interface Call {
  readonly url: URL;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds for connection, reply and body. */
  readonly timeoutMs: number;
  /** Ends the call early. */
  readonly signal?: AbortSignal;
}

/** Bytes of a body that are read: more than the library reads by default, so that a larger limit can be advised. */
const MAX_BODY_BYTES = 4_194_304;
const NO_CODE = 'INVALID_REPLY';

/** Sends a request without following a redirect, by default over a connection of its own. Never rejects. */
export function exchange(call: Call, agent: http.Agent | false = false): Promise<Answer> {
  return new Promise((resolve) => {
    const exchanged = new Exchange(call.timeoutMs, resolve);
    try {
      exchanged.send(call, agent);
    } catch (error) {
      exchanged.fail(error);
    }
  });
}

/** One request and its reply. Settles once. */
class Exchange {
  readonly #settle: (answer: Answer) => void;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #request: http.ClientRequest | undefined;
  #release: () => void = () => undefined;

  constructor(timeoutMs: number, settle: (answer: Answer) => void) {
    this.#settle = settle;
    this.#timer = setTimeout(() => this.#end('TIMEOUT'), timeoutMs).unref();
  }

  send({ url, method, headers, body, signal }: Call, agent: http.Agent | false): void {
    if (signal?.aborted) {
      this.#end(INTERRUPTED);
      return;
    }
    const request = (url.protocol === 'https:' ? https : http).request(url, { method, headers, agent });
    this.#request = request;
    const abort = (): void => this.#end(INTERRUPTED);
    signal?.addEventListener('abort', abort, { once: true });
    this.#release = () => signal?.removeEventListener('abort', abort);
    request.on('error', (error) => this.fail(error));
    request.on('response', (reply) => this.#read(reply));
    request.on('upgrade', () => this.#end(NO_CODE));
    request.end(body);
  }

  /** No complete reply, because of an error of Node.js. */
  fail(error: unknown): void {
    const { code } = error as NodeJS.ErrnoException;
    this.#end(typeof code === 'string' && /^[A-Z][A-Z\d_]{1,59}$/.test(code) ? code : NO_CODE);
  }

  #read(reply: http.IncomingMessage): void {
    const firstByteMs = this.#elapsedMs;
    const body = new BodyBuffer(MAX_BODY_BYTES);
    const readable = isReadable(reply.headers, MAX_BODY_BYTES);
    reply.on('error', (error) => this.fail(error));
    reply.on('close', () => this.#end('ECONNRESET'));
    reply.on('data', (chunk: Buffer) => {
      if (!body.append(chunk)) this.#end('TOO_LARGE');
    });
    reply.on('end', () => {
      const { statusCode: status = 0, headers } = reply;
      const { bytes } = body;
      const times = { firstByteMs, totalMs: this.#elapsedMs, reused: this.#isReused };
      this.#finish({ kind: 'reply', status, headers, body: readable ? bytes : undefined, bytes: bytes.length, ...times });
    });
  }

  #end(code: string): void {
    const failure: FailedAnswer = { kind: 'failure', code, totalMs: this.#elapsedMs, reused: this.#isReused };
    this.#finish(failure);
    this.#request?.destroy();
  }

  #finish(answer: Answer): void {
    clearTimeout(this.#timer);
    this.#release();
    this.#settle(answer);
  }

  get #elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  get #isReused(): boolean {
    return this.#request?.reusedSocket ?? false;
  }
}
