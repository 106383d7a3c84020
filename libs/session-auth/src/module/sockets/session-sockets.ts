import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { InvalidConfigurationError } from '../../contract/errors.js';
import type { CurrentUserRecord } from '../../guard/access/current-user.decorator.js';
import type { GuardParts } from '../../guard/guard-parts.js';
import { ACCESS_DENIED, SESSION_REJECTED, type GuardDenial } from '../../guard/denial.js';
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
 * Checks sockets of socket.io and of ws at their handshake, and ends them with their session. Call `protect` in `afterInit` of a gateway:
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

  /** @internal Nest builds it. */
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
   * Checks every handshake of a server from now on: call it in `afterInit` of a gateway, with what that gets. It covers the whole server: of
   * socket.io all namespaces, also those that come later; of ws every gateway on the same port and path.
   *
   * A client without a valid session gets 401, 403 or 503 with the guard's headers and body (of socket.io a `connect_error` with `statusCode`,
   * `code` and `retryAfterSeconds` in its `data`), and its socket never opens. A socket that opens has its user in `handleConnection` already
   * ({@link userOf}), is checked again every `recheckMs`, is closed at once when its session ends, and stays open through an outage of the session
   * service for `outageGraceMs`. Called again for one server, it only replaces the options.
   * @throws InvalidConfigurationError when it is neither a server of ws nor one of socket.io. Nest would lose an error of `afterInit`, so
   * until the application has started, the start fails with it instead
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
    else this.#refuseServer(unknownServer());
  }

  /**
   * Checks the session of a socket that is open already, and watches it from then on. For sockets of graphql-ws and others that no gateway opens;
   * those of gateways are checked before they open, by {@link protect}, and here only give their user. What the application sends to a
   * socket of ws meanwhile waits for the verdict. A socket without a valid session is closed with 4401, 4403 or 4503 and the `code` as its
   * reason. One of socket.io that `protect` did not let in is disconnected: nothing keeps broadcasts from it.
   *
   * A socket of ws doesn't know the request that opened it: without `upgrade` its client has presented nothing, here and to the guard.
   * Never rejects. @returns the user, or `undefined` when the socket was refused or is closed
   */
  watch(client: SocketClient, upgrade?: SocketUpgrade, options: SessionSocketOptions = {}): Promise<CurrentUserRecord | undefined> {
    return this.#open.check(client, upgrade, watchSettings(options));
  }

  /** The user of a socket, as the last check found it; `undefined` when the socket is not watched, or has ended. */
  userOf(client: SocketClient): CurrentUserRecord | undefined {
    return this.#watched.of(client)?.user;
  }

  /** How many sockets are watched now, and how many handshakes wait. */
  countSockets(): SocketCounts {
    return { watched: this.#watched.index.size, waiting: this.#checks.waiting.size };
  }

  /** @throws InvalidConfigurationError when `protect` got a server that it does not know */
  onApplicationBootstrap(): void {
    if (this.#misuse) throw this.#misuse;
    this.#started = true;
  }

  /** Stops watching. Nest has closed the sockets. */
  onApplicationShutdown(): void {
    for (const socket of this.#watched.index.all()) socket.stop();
  }

  /** Nest calls `afterInit` where an error ends the process without a chance to catch it. */
  #refuseServer(error: InvalidConfigurationError): void {
    if (this.#started) throw error;
    this.#misuse ??= error;
  }

  /** A check of this session was refused, by whatever it was asked. The message that found it gets its own denial first. */
  #closeLater(fingerprint: string, kind: 'unauthenticated' | 'forbidden'): void {
    if (this.#watched.index.countOf(fingerprint) === 0) return;
    setImmediate(() => this.#close(fingerprint, kind === 'forbidden' ? ACCESS_DENIED : SESSION_REJECTED));
  }

  /** Handshakes and first checks under way are repeated: see `verifyForSocket`. */
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
    'SessionSockets.protect() knows servers of ws and of socket.io, and this is neither. Call it in afterInit(server) of a gateway, with that ' +
      'server; with another library check the handshake yourself with SessionAuthService.verify() before you accept it.',
  );
}
