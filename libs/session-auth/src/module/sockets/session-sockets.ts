import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { ACCESS_DENIED, SESSION_REJECTED } from '../../contract/denials.js';
import { InvalidConfigurationError } from '../../contract/errors.js';
import type { CurrentUserRecord } from '../../guard/access/current-user.decorator.js';
import type { GuardParts } from '../../guard/guard-parts.js';
import type { GuardDenial } from '../../guard/denial.js';
import type { SocketClient } from '../../guard/sockets/socket-client.js';
import type { WarningLog } from '../warning-log.js';
import type { EventSource } from '../event-source.js';
import type { SessionAuthEvents } from '../session-auth-events.js';
import { HandshakeChecks } from './handshake-checks.js';
import { OpenSockets } from './open-sockets.js';
import { socketIoServerOf } from './socket-io-server.js';
import { SocketIoHandshakes } from './socket-io-handshakes.js';
import { type SessionSocketOptions, type SocketCounts, type SocketUpgrade, watchSettings } from './socket-options.js';
import { WatchedSockets } from './watched-sockets.js';
import { WsHandshakes } from './ws-handshakes.js';
import { isWsServer } from './ws-server.js';

/**
 * Checks sockets of socket.io and ws at their handshake, and closes them when their session ends. Call `protect` in `afterInit` of a gateway:
 *
 * ```ts
 * afterInit(server: Server) {
 *   this.sockets.protect(server);
 * }
 * ```
 */
export class SessionSockets implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #checks: HandshakeChecks;
  readonly #watched: WatchedSockets;
  readonly #ws: WsHandshakes;
  readonly #socketIo: SocketIoHandshakes;
  readonly #open: OpenSockets;
  #started = false;
  #misuse: InvalidConfigurationError | undefined;
  readonly #options = new WeakMap<object, SessionSocketOptions>();

  /** @internal Created by Nest. */
  constructor(parts: GuardParts, events: SessionAuthEvents, source: EventSource, log: WarningLog) {
    this.#checks = new HandshakeChecks(parts, events);
    this.#watched = new WatchedSockets(parts, events);
    this.#ws = new WsHandshakes(this.#checks, this.#watched);
    this.#socketIo = new SocketIoHandshakes(this.#checks, this.#watched);
    this.#open = new OpenSockets(parts.presented, this.#watched, () => log.unprotectedSocket());
    events.ended$.subscribe((fingerprint) => this.#close(fingerprint, SESSION_REJECTED));
    events.endedUsers$.subscribe((username) => this.#closeUser(username));
    parts.verifier.revoker.onRefusal((key, kind) => {
      if (this.#watched.index.size > 0) this.#closeLater(source.fingerprintOf(key), kind);
    });
  }

  /**
   * Checks every handshake of a server. Call it in `afterInit` of a gateway, with the argument of `afterInit`. It covers the whole server: all
   * namespaces of socket.io, including those created later, or all ws gateways on the same port and path.
   *
   * A client without a valid session receives 401, 403 or 503 with the guard's headers and body (socket.io: a `connect_error` with `statusCode`,
   * `code` and `retryAfterSeconds` in its `data`), and its socket never opens. A socket that opens has its user already in `handleConnection`
   * ({@link userOf}), is checked again every `recheckMs`, is closed immediately when its session ends, and stays open for `outageGraceMs` of an
   * outage of the session service. Another call for the same server only replaces the options.
   * @throws InvalidConfigurationError if the server is neither of ws nor of socket.io. The application can't catch an error of `afterInit`, so
   * before the application has started, startup fails with the error instead
   */
  protect(server: object, options?: SessionSocketOptions): void {
    const socketIo = socketIoServerOf(server);
    const target = socketIo ?? server;
    const isKnown = this.#options.has(target);
    if (options || !isKnown) this.#options.set(target, options ?? {});
    const settings = () => watchSettings(this.#options.get(target) ?? {});
    if (isKnown) return;
    if (socketIo) this.#socketIo.protect(socketIo, settings);
    else if (isWsServer(server)) this.#ws.protect(server, settings);
    else this.#rejectServer(unknownServer());
  }

  /**
   * Checks the session of an open socket, and watches the socket. For sockets of graphql-ws and others that no gateway opens. Sockets of gateways
   * are checked before they open, by {@link protect}; for them, it only returns the user. Messages that the application sends to a ws socket wait for
   * the verdict. A socket without a valid session is closed with 4401, 4403 or 4503, and the `code` as the reason. A socket.io socket that `protect`
   * did not admit is disconnected, because broadcasts to it can't be held.
   *
   * A ws socket does not expose the request that opened it: without `upgrade`, its client presents no session, here and to the guard. Never rejects.
   * @returns the user, or `undefined` if the socket was denied or is closed
   */
  watch(client: SocketClient, upgrade?: SocketUpgrade, options: SessionSocketOptions = {}): Promise<CurrentUserRecord | undefined> {
    return this.#open.check(client, upgrade, watchSettings(options));
  }

  /** Returns the user of a socket at the last check; `undefined` if the socket is not watched, or no longer. */
  userOf(client: SocketClient): CurrentUserRecord | undefined {
    return this.#watched.of(client)?.user;
  }

  /** Returns the numbers of watched sockets and of waiting handshakes. */
  countSockets(): SocketCounts {
    return { watched: this.#watched.index.size, waiting: this.#checks.waiting.size };
  }

  /** @throws InvalidConfigurationError if `protect` was called with an unsupported server */
  onApplicationBootstrap(): void {
    if (this.#misuse) throw this.#misuse;
    this.#started = true;
  }

  /** Stops watching. Nest has closed the sockets. */
  onApplicationShutdown(): void {
    for (const socket of this.#watched.index.all()) socket.stop();
  }

  /** An error in `afterInit` would end the process, and could not be caught. */
  #rejectServer(error: InvalidConfigurationError): void {
    if (this.#started) throw error;
    this.#misuse ??= error;
  }

  /** Called after any refused check of a session. Deferred, so that the message that was checked gets its own denial first. */
  #closeLater(fingerprint: string, kind: 'unauthenticated' | 'forbidden'): void {
    if (this.#watched.index.countOf(fingerprint) === 0) return;
    setImmediate(() => this.#close(fingerprint, kind === 'forbidden' ? ACCESS_DENIED : SESSION_REJECTED));
  }

  /** Closes the sockets of a user, or all. Handshakes and first checks in progress are repeated instead: see `verifyForSocket`. */
  #closeUser(username: string | undefined): void {
    this.#watched.index.endWhere(({ user }) => username === undefined || user?.username === username, SESSION_REJECTED);
  }

  #close(fingerprint: string, denial: GuardDenial): void {
    this.#checks.waiting.end(fingerprint, denial);
    this.#watched.index.end(fingerprint, denial);
  }
}

function unknownServer(): InvalidConfigurationError {
  return new InvalidConfigurationError(
    'SessionSockets.protect() supports servers of ws and of socket.io, and this is neither. Call it in afterInit(server) of a gateway, with that ' +
      'server; with another library check the handshake yourself with SessionAuthService.verify() before you accept it.',
  );
}
