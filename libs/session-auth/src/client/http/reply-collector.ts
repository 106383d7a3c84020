import type { IncomingHttpHeaders } from 'node:http';
import { buildConnector, type Dispatcher, errors } from 'undici';
import { type DeadlineEnd, noReplyAt } from '../deadline.js';
import { BodyBuffer } from './body.js';
import { isReadable, type NoReply, type Reply, STALE_CONNECTION, UNREACHABLE } from './reply.js';

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

const failuresAfterUse = new WeakSet<Error>();

/** Connects as undici does, and remembers of a connection that fails whether it had served before. */
export function rememberingConnector(timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs });
  return (options, settle) => {
    connect(options, (...outcome) => {
      const socket = outcome[1];
      socket?.prependListener('error', (error: Error) => {
        if (socket.bytesRead > 0) failuresAfterUse.add(error);
      });
      settle(...outcome);
    });
  };
}

/** Whether a connection failed that had served before: a keep-alive connection that the service had closed meanwhile. */
export function wasReused(error: Error): boolean {
  if (failuresAfterUse.has(error)) return true;
  return error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0;
}
