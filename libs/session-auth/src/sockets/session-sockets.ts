import 'reflect-metadata';
import type { OnApplicationBootstrap, OnModuleInit } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { InvalidConfigurationError } from '../contract/errors.js';
import type { GuardRegistration } from '../guard/guard-registration.js';
import type { CurrentUserRecord } from '../guard/current-user.decorator.js';
import { dependenciesOf } from '../guard/nest-container.js';
import type { SocketClient, SocketConnection } from '../kinds/socket-client.js';
import { ProvidedBy } from '../module/options/plugins.js';
import { checkOpenSocket } from './open-socket-checks.js';
import { socketIoServerOf } from './socket-io-server.js';
import { SocketIoHandshakes } from './socket-io-handshakes.js';
import type { SessionSocketOptions, SocketCounts, SocketUpgrade } from './socket-options.js';
import { WatchedSockets } from './watched-sockets.js';
import { WsHandshakes } from './ws-handshakes.js';
import { isWsServer } from './ws-server.js';

/** Nest's metadata key of `@WebSocketGateway()`. */
const GATEWAY = 'websockets:is_gateway';

/** By server, the registration that protects it. */
const protectedBy = new WeakMap<object, GuardRegistration>();

/**
 * Checks sockets of socket.io and ws at their handshake, and closes them when their session ends. Call
 * `protect` in `afterInit` of a gateway.
 *
 * @example
 * ```ts
 * class Chat implements OnGatewayInit {
 *   constructor(private readonly sockets: SessionSockets) {}
 *   afterInit(server: Server) { this.sockets.protect(server); }
 * }
 * ```
 */
@ProvidedBy('sessionSockets of nestjs-session-auth/sockets', 'SessionSockets')
export class SessionSockets implements OnModuleInit, OnApplicationBootstrap {
  readonly #modules: ModulesContainer;
  readonly #application: WatchedSockets;
  readonly #ws: WsHandshakes;
  readonly #socketIo: SocketIoHandshakes;
  #started = false;
  #misuse: InvalidConfigurationError | undefined;
  readonly #options = new WeakMap<object, SessionSocketOptions>();

  /** @internal Created by Nest. */
  constructor(registration: GuardRegistration, modules: ModulesContainer) {
    this.#modules = modules;
    this.#application = new WatchedSockets(registration);
    this.#ws = new WsHandshakes(this.#application);
    this.#socketIo = new SocketIoHandshakes(this.#application);
  }

  /**
   * Checks every handshake of a server: of all namespaces of socket.io, including those created later, or of
   * all ws gateways on the same port and path.
   *
   * A client without a valid session receives 401, 403 or 503 with the guard's headers and body (socket.io: a
   * `connect_error` with `statusCode`, `code` and `retryAfterSeconds` in its `data`), and its socket never
   * opens. A socket that opens has its user already in `handleConnection` ({@link userOf}), is checked again
   * every `recheckMs`, and is closed immediately when its session ends. Another call for the same server only
   * replaces the options.
   * @throws InvalidConfigurationError if the server is neither of ws nor of socket.io, has
   * `connectionStateRecovery`, or another registration protects it. The application can't catch an error of
   * `afterInit`, so before the application has started, startup fails with the error instead
   */
  protect(server: object, options?: SessionSocketOptions): void {
    const socketIo = socketIoServerOf(server);
    const target = socketIo ?? server;
    if (this.#isProtectedByOther(target)) return;
    if (!this.#options.has(target)) {
      const current = () => this.#options.get(target) ?? {};
      if (socketIo) {
        this.#socketIo.protect(socketIo, current);
        if (socketIo.opts.connectionStateRecovery) this.#rejectServer(recoversConnections());
      } else if (isWsServer(server)) this.#ws.protect(server, current);
      else {
        this.#rejectServer(unknownServer());
        return;
      }
      this.#options.set(target, {});
    }
    if (options) this.#options.set(target, options);
  }

  /**
   * Checks the session of an open socket, and watches the socket. Use it for sockets that no gateway opens,
   * such as those of graphql-ws. For a socket that {@link protect} admitted, it only returns the user. Send
   * nothing to the socket before the user is returned. A socket without a valid session is closed with 4401,
   * 4403 or 4503, and the `code` as the reason. A socket.io socket that `protect` did not admit is
   * disconnected, because broadcasts reach it already.
   *
   * A ws socket does not expose the request that opened it. Without `upgrade`, its client therefore presents
   * no session, neither here nor to the guard. Never rejects.
   * @param upgrade the request that opened the socket, or the connection of graphql-ws, whose
   * `connectionParams` may have the token
   * @returns the user, or `undefined` if the socket was denied or is closed
   */
  watch(
    client: SocketClient,
    upgrade?: SocketUpgrade | SocketConnection,
    options: SessionSocketOptions = {},
  ): Promise<CurrentUserRecord | undefined> {
    return checkOpenSocket(this.#application, client, upgrade, options);
  }

  /** Returns the user of a socket at its last check, or `undefined` if the socket is not watched. */
  userOf(client: SocketClient): CurrentUserRecord | undefined {
    return this.#application.watchedOf(client)?.user;
  }

  /** Returns the numbers of watched sockets and of waiting handshakes of this registration. */
  countSockets(): SocketCounts {
    return this.#application.count();
  }

  /**
   * The token of a client would reach a session service that its gateway does not name.
   * @throws InvalidConfigurationError if a gateway has it, and another registration checks its messages
   */
  onModuleInit(): void {
    const { own } = this.#application;
    const { registrations } = own;
    if (!registrations) return;
    for (const gateway of [...this.#modules.values()].flatMap(({ providers }) => [...providers.values()])) {
      const { metatype } = gateway;
      if (typeof metatype !== 'function' || !Reflect.hasMetadata(GATEWAY, metatype)) continue;
      if ((registrations.registrationOf(metatype) ?? own) === own) continue;
      if (dependenciesOf(gateway).some((dependency) => dependency?.instance === this))
        throw new InvalidConfigurationError(
          `${metatype.name} has SessionSockets of another registration of SessionAuthModule than that of its module, which checks its messages. Inject those of its module.`,
        );
    }
  }

  /** @throws InvalidConfigurationError if `protect` was called with a server that it can't protect */
  onApplicationBootstrap(): void {
    if (this.#misuse) throw this.#misuse;
    this.#started = true;
  }

  #isProtectedByOther(target: object): boolean {
    const { own } = this.#application;
    const other = protectedBy.get(target) ?? own;
    protectedBy.set(target, other);
    if (other === own) return false;
    this.#rejectServer(protectedTwice());
    return true;
  }

  /** An error in `afterInit` would end the process. */
  #rejectServer(error: InvalidConfigurationError): void {
    if (this.#started) throw error;
    this.#misuse ??= error;
  }
}

function protectedTwice(): InvalidConfigurationError {
  return new InvalidConfigurationError(
    'SessionSockets.protect() was called for one server by two registrations. Protect it by one: give the gateways of each another port.',
  );
}

function recoversConnections(): InvalidConfigurationError {
  return new InvalidConfigurationError(
    'SessionSockets.protect() does not support connectionStateRecovery: socket.io sends what a client has missed before any check. Remove the option ' +
      'from the gateway or the adapter, and let clients load what they missed when they connect.',
  );
}

function unknownServer(): InvalidConfigurationError {
  return new InvalidConfigurationError(
    'SessionSockets.protect() supports servers of ws and of socket.io, and this is neither. Call it in afterInit(server) of a gateway, with that ' +
      'server; with another library check the handshake yourself with SessionAuthService.verify() before you accept it.',
  );
}
