import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { CallFailure } from './call-failure.js';
import { isReadable, type Reply } from './reply.js';

/** Collects one reply from undici, up to the limit, and settles once. */
export class ReplyCollector implements Dispatcher.DispatchHandler {
  readonly #maxBytes: number;
  readonly #resolve: (reply: Reply) => void;
  readonly #reject: (failure: CallFailure) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #chunks: Buffer[] = [];
  #size = 0;
  #aborted = false;

  constructor(maxBytes: number, resolve: (reply: Reply) => void, reject: (failure: CallFailure) => void) {
    this.#maxBytes = maxBytes;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted) controller.abort(new CallFailure('timeout'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (!isReadable(headers, this.#maxBytes)) this.#settleWithoutBody();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > this.#maxBytes) this.#settleWithoutBody();
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first, second] = this.#chunks;
    const body = first && !second ? first : Buffer.concat(this.#chunks);
    this.#resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(): void {
    this.#reject(new CallFailure('unreachable'));
  }

  /** Drops the connection; the caller has gone, or nothing more of the reply is wanted. */
  abort(): void {
    this.#aborted = true;
    this.#chunks = [];
    this.#controller?.abort(new CallFailure('timeout'));
  }

  #settleWithoutBody(): void {
    this.#resolve({ status: this.#status, headers: this.#headers, body: undefined });
    this.abort();
  }
}
