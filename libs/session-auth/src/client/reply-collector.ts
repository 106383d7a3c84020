import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici/index.js';
import { type DeadlineEnd, noReplyAt } from './deadline.js';
import { BodyBuffer } from './bounded-body.js';
import { isReadable, type NoReply, type Reply, STALE_CONNECTION, UNREACHABLE } from './reply.js';
import { isStale } from './stale-connection.js';
import { reportTlsFailure, type TlsFailed } from './tls-failure.js';

/** Abort reason passed to undici; never surfaces. */
const ABORTED = new Error('the reply is no longer wanted');

/** Maximum number of interim replies (1xx) before a reply (our decision). */
const MAX_INTERIM_REPLIES = 100;
const SWITCHING_PROTOCOLS = 101;

/** Collects one reply from undici, within the size limit and the deadline. */
export class ReplyCollector implements Dispatcher.DispatchHandler {
  readonly #maxBytes: number;
  readonly #settle: (reply: Reply | NoReply) => void;
  readonly #tlsFailed: TlsFailed | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #body: BodyBuffer | undefined;
  #interimReplies = 0;
  #aborted = false;

  constructor(maxBytes: number, settle: (reply: Reply | NoReply) => void, tlsFailed?: TlsFailed) {
    this.#maxBytes = maxBytes;
    this.#settle = settle;
    this.#tlsFailed = tlsFailed;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted) controller.abort(ABORTED);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200 && status !== SWITCHING_PROTOCOLS) this.#countInterimReply();
    else this.#begin(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#body ??= new BodyBuffer(this.#maxBytes);
    if (!this.#body.append(chunk)) this.#settleWithoutBody();
  }

  onResponseEnd(): void {
    this.#settle({
      status: this.#status,
      headers: this.#headers,
      body: this.#body?.bytes ?? Buffer.alloc(0),
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    reportTlsFailure(error, this.#tlsFailed);
    this.#settle(isStale(error) ? STALE_CONNECTION : UNREACHABLE);
  }

  /** Aborts the request at its deadline. */
  expire(end: DeadlineEnd): void {
    this.#settle(noReplyAt(end));
    this.#abort();
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
    this.#abort();
  }

  #settleWithoutBody(): void {
    this.#settle({ status: this.#status, headers: this.#headers, body: undefined });
    this.#abort();
  }

  /** Aborts the request, which closes its connection. */
  #abort(): void {
    this.#aborted = true;
    this.#body = undefined;
    this.#controller?.abort(ABORTED);
  }
}
