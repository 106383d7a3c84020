import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { BodyBuffer } from './body-buffer.js';
import { noReplyAt, type DeadlineEnd } from './deadline.js';
import { STALE_CONNECTION, UNREACHABLE, type NoReply } from './no-reply.js';
import { wasReused } from './reused-connection.js';
import { isReadable, type Reply } from './reply.js';

/** What undici is told when its work is no longer wanted; nobody sees it. */
const UNWANTED = new Error('the reply is no longer wanted');

/** Interim replies (1xx) that may come before a reply (our decision). */
const MAX_INTERIM_REPLIES = 100;
const SWITCHING_PROTOCOLS = 101;

/** Collects one reply from undici, up to the limit and the deadline, and settles once. */
export class ReplyCollector implements Dispatcher.DispatchHandler {
  readonly #maxBytes: number;
  readonly #settle: (reply: Reply | NoReply) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #body: BodyBuffer | undefined;
  #interimReplies = 0;
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
    if (status < 200 && status !== SWITCHING_PROTOCOLS) this.#countInterimReply();
    else this.#begin(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body ??= new BodyBuffer(this.#maxBytes);
    if (!this.#body.append(chunk)) this.#settleWithoutBody();
  }

  onResponseEnd(): void {
    this.#settle({ status: this.#status, headers: this.#headers, body: this.#body?.bytes ?? Buffer.alloc(0) });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const isStale = this.#status === 0 && this.#interimReplies === 0 && wasReused(error);
    this.#settle(isStale ? STALE_CONNECTION : UNREACHABLE);
  }

  /** Gives up at the deadline. */
  expire(end: DeadlineEnd): void {
    this.#settle(noReplyAt(end));
    this.#drop();
  }

  #begin(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
    if (status === SWITCHING_PROTOCOLS || !isReadable(headers, this.#maxBytes)) this.#settleWithoutBody();
  }

  #countInterimReply(): void {
    this.#interimReplies += 1;
    if (this.#interimReplies <= MAX_INTERIM_REPLIES) return;
    this.#settle(UNREACHABLE);
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
