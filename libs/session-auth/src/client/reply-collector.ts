import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { noReplyAt, type DeadlineEnd } from './deadline.js';
import { STALE_CONNECTION, UNREACHABLE, type NoReply } from './no-reply.js';
import { wasReused } from './reused-connection.js';
import { isReadable, type Reply } from './reply.js';

/** What undici is told when its work is no longer wanted; nobody sees it. */
const UNWANTED = new Error('the reply is no longer wanted');

/** Collects one reply from undici, up to the limit and the deadline, and settles once. */
export class ReplyCollector implements Dispatcher.DispatchHandler {
  readonly #maxBytes: number;
  readonly #settle: (reply: Reply | NoReply) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #body: Buffer | undefined;
  #dropped = false;

  constructor(maxBytes: number, settle: (reply: Reply | NoReply) => void) {
    this.#maxBytes = maxBytes;
    this.#settle = settle;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#dropped) controller.abort(UNWANTED);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (!isReadable(headers, this.#maxBytes)) this.#settleWithoutBody();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body = this.#body ? Buffer.concat([this.#body, chunk]) : chunk;
    if (this.#body.length > this.#maxBytes) this.#settleWithoutBody();
  }

  onResponseEnd(): void {
    this.#settle({ status: this.#status, headers: this.#headers, body: this.#body ?? Buffer.alloc(0) });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle(this.#status === 0 && wasReused(error) ? STALE_CONNECTION : UNREACHABLE);
  }

  /** Gives up at the deadline. */
  expire(end: DeadlineEnd): void {
    this.#settle(noReplyAt(end));
    this.#drop();
  }

  #settleWithoutBody(): void {
    this.#settle({ status: this.#status, headers: this.#headers, body: undefined });
    this.#drop();
  }

  /** Ends the connection: nothing more of the reply is wanted. */
  #drop(): void {
    this.#dropped = true;
    this.#body = undefined;
    this.#controller?.abort(UNWANTED);
  }
}
