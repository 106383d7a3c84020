import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { AxiosProxyConfig } from 'axios';
import type { Dispatcher } from 'undici/index.js';
import { unavailable } from '../contract/outcome.js';
import type { Deadline } from './deadline.js';
import { type Connector, dispatcherTo } from './dispatcher.js';
import {
  type Answer,
  BodyBuffer,
  type ConnectionFailed,
  isReadable,
  type Reply,
  reportFailure,
  STALE_CONNECTION,
  UNREACHABLE,
} from './reply.js';

/** One request of the interface, complete with headers and body. */
export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** Path, including the path of the base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly deadline: Deadline;
  /**
   * Use a new connection. A sign-in or sign-out is never retried, so it must not use one that the service may
   * just have closed.
   */
  readonly freshConnection: boolean;
}

/** Limits of the connections to the session service. */
export interface ConnectionSettings {
  /** Maximum number of connections that are kept, for each origin. A call beyond them has one of its own. */
  readonly maxConnections: number;
  readonly maxResponseBytes: number;
  readonly proxy: AxiosProxyConfig | undefined;
  readonly connectionFailed?: ConnectionFailed;
  /** Called if a kept connection brought no reply to a check, and a new one did. */
  readonly connectionLost?: () => void;
}

export type Settle = (answer: Answer) => void;

/** Those among which a connection is kept. */
export interface ConnectionKeeper {
  /** A call has completed, after this time. */
  release(connection: Connection, tookMs: number): void;
  /** Closes the idle connections that were not used of late: one of them was dead. */
  closeUntrusted(): void;
  remove(connection: Connection): void;
}

const SWITCHING_PROTOCOLS = 101;
/** Maximum number of interim replies (1xx) of a call (our decision). */
const MAX_INTERIM_REPLIES = 100;
/** Age from which a connection is not used again, so that a name that moved is looked up; up to twice that. */
const MIN_AGE_MS = 30_000;
/** A connection that has carried a reply within this time works. */
const TRUSTED_MS = 500;

/** One connection, and the call that it carries. It is made, or made again, for its next call. */
export class Connection implements Dispatcher.DispatchHandler {
  readonly #maxResponseBytes: number;
  readonly #connectionFailed: ConnectionFailed | undefined;
  readonly #keeper: ConnectionKeeper | undefined;
  readonly #dispatcher: Dispatcher;
  #socket: Socket | undefined;
  #retiresAtMs = Infinity;
  #sentAtMs = 0;
  #usedAtMs = 0;
  /** Settles the call under way, which ends when this is `undefined`. */
  #settle: Settle | undefined;
  #head: Omit<Reply, 'body'> = { status: 0, headers: {} };
  #body = new BodyBuffer();
  /** Bytes that the socket had read before the call. */
  #readBefore = 0;
  #interimReplies = 0;

  /** Without a keeper, it closes after one reply. */
  constructor(origin: string, settings: ConnectionSettings, connect: Connector, keeper?: ConnectionKeeper) {
    this.#maxResponseBytes = settings.maxResponseBytes;
    this.#connectionFailed = settings.connectionFailed;
    this.#keeper = keeper;
    this.#dispatcher = dispatcherTo(origin, settings.proxy, connect, (socket) => this.#made(socket));
  }

  /** Whether its call has brought no byte, on a connection that carried a reply before. */
  get isSilent(): boolean {
    return this.#readBefore > 0 && this.#socket?.bytesRead === this.#readBefore;
  }

  isTrusted(nowMs: number): boolean {
    return nowMs - this.#usedAtMs < TRUSTED_MS;
  }

  isTooOld(nowMs: number): boolean {
    return nowMs >= this.#retiresAtMs;
  }

  send(request: ServiceRequest, settle: Settle): void {
    const { origin, path, method, headers, body, deadline, freshConnection } = request;
    this.#settle = settle;
    this.#body = new BodyBuffer();
    this.#interimReplies = 0;
    this.#sentAtMs = performance.now();
    deadline.onEnd((end) => {
      if (this.#settle === settle) this.abort(unavailable(end));
    });
    try {
      // A literal: with a spread of `request`, a call took 7 us more.
      this.#dispatcher.dispatch({ origin, path, method, headers, body, reset: freshConnection }, this);
    } catch (error) {
      this.onResponseError(undefined, error);
    }
    // undici lets the socket of a call keep the process alive. Only a caller that waits does: `holdProcess`.
    this.#socket?.unref();
    if (!this.#keeper) this.close();
  }

  /** Closes the connection when its call has completed. */
  close(): void {
    this.#dispatcher.close().catch(() => undefined);
  }

  /** Closes the connection, even while it is connecting, which undici does not. */
  async destroy(): Promise<void> {
    this.#socket?.destroy();
    await this.#dispatcher.destroy().catch(() => undefined);
  }

  /** Settles the call under way with this answer, and closes the connection. */
  abort(answer: Answer): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(answer);
    this.#keeper?.remove(this);
    void this.destroy();
  }

  onRequestStart(): void {
    this.#readBefore = this.#socket?.bytesRead ?? 0;
  }

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    // Interim replies are followed by another, and carry nothing that counts.
    if (status < 200 && status !== SWITCHING_PROTOCOLS) {
      this.#interimReplies += 1;
      if (this.#interimReplies > MAX_INTERIM_REPLIES) this.abort(UNREACHABLE);
      return;
    }
    this.#head = { status, headers };
    if (status < 200 || !isReadable(headers, this.#maxResponseBytes)) this.#abortBody();
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (!this.#body.append(chunk, this.#maxResponseBytes)) this.#abortBody();
  }

  onResponseEnd(): void {
    // After an abort, undici still ends a reply without a body that closes its connection.
    if (!this.#settle) return;
    const { status, headers } = this.#head;
    this.#settle({ status, headers, body: this.#body.bytes });
    this.#settle = undefined;
    this.#usedAtMs = performance.now();
    this.#keeper?.release(this, this.#usedAtMs - this.#sentAtMs);
  }

  /**
   * The connection is stale if it has carried a reply, and ends before the first byte of the next: the
   * service closed it while it was idle, so that the error says nothing about its health.
   */
  onResponseError(_controller: unknown, error: unknown): void {
    if (!this.#settle) return;
    reportFailure(error, this.#connectionFailed);
    if (this.isSilent) this.#keeper?.closeUntrusted();
    this.abort(this.isSilent ? STALE_CONNECTION : UNREACHABLE);
  }

  #abortBody(): void {
    this.abort({ ...this.#head, body: undefined });
  }

  #made(socket: Socket): void {
    this.#socket = socket.unref();
    this.#retiresAtMs = performance.now() + MIN_AGE_MS * (1 + Math.random());
  }
}
