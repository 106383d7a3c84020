import { SESSION_REJECTED } from '../contract/denials.js';
import { type GuardDenial, reportDenial, withoutStack } from '../guard/denial.js';
import { payloadOf } from '../kinds/client-denial.js';
import { disconnect, handshakeOf, whenClosed } from '../kinds/socket-client.js';
import { RecoveredSessions } from './recovered-sessions.js';
import type { SocketIoNamespace, SocketIoServer, SocketIoSocket } from './socket-io-server.js';
import type { SessionSocketOptions } from './socket-options.js';
import { REPLACED, UnfinishedHandshakes } from './unfinished-handshakes.js';
import { type ApplicationSockets, whenAdmitted } from './application-sockets.js';

type Options = () => SessionSocketOptions;
type Next = (error?: Error) => void;

/** Checks sockets of socket.io before their namespace opens them: until then, no event reaches them. */
export class SocketIoHandshakes {
  readonly #application: ApplicationSockets;
  readonly #unfinished = new UnfinishedHandshakes();
  readonly #recovered: RecoveredSessions;

  constructor(application: ApplicationSockets) {
    this.#application = application;
    this.#recovered = new RecoveredSessions(application);
  }

  /** Reads `options` at each handshake. */
  protect(server: SocketIoServer, options: Options): void {
    const { connectionStateRecovery } = server.opts;
    if (connectionStateRecovery) connectionStateRecovery.skipMiddlewares = false;
    for (const namespace of server._nsps.values()) this.#protectNamespace(namespace, options);
    server.of('/').on('new_namespace', (namespace) => this.#protectNamespace(namespace, options));
  }

  #protectNamespace(namespace: SocketIoNamespace, options: Options): void {
    if (namespace.server.opts.connectionStateRecovery) this.#recovered.holdBackPackets(namespace);
    namespace.use((socket, next) => {
      // Middlewares of the application may have run for long, and no `close` would end the handshake.
      if (socket.conn.readyState === 'closed') deny(REPLACED, this.#application.own.authority, next);
      else this.#check(socket, options(), next);
    });
    // Runs before the listeners of the application, so that they find the user: `connect` comes before
    // `connection`.
    namespace.prependListener('connect', (socket) => this.#opened(socket));
  }

  /** Always calls `next`, because socket.io keeps the socket until then. */
  #check(socket: SocketIoSocket, options: SessionSocketOptions, next: Next): void {
    const handshake = this.#unfinished.begin(socket);
    const watched = this.#application.watch({
      client: socket,
      request: handshakeOf(socket),
      options,
      deny: (denial, { authority }) => {
        this.#unfinished.finish(socket);
        deny(denial, authority, next);
      },
    });
    if (!watched) return;
    handshake.target = watched;
    whenAdmitted(watched, () => {
      this.#application.open(socket, watched);
      this.#recovered.settle(socket);
      next();
    });
  }

  /** Closes the socket if its session has ended while middlewares of the application ran. */
  #opened(socket: SocketIoSocket): void {
    this.#unfinished.finish(socket);
    const watched = this.#application.watchedOf(socket);
    if (watched) whenClosed(socket, () => watched.over());
    else disconnect(socket, payloadOf(SESSION_REJECTED));
  }
}

/** The client's `connect_error` has the denial as its `data`. */
function deny(denial: GuardDenial, authority: string, next: Next): void {
  reportDenial(denial, authority);
  next(withoutStack(() => Object.assign(new Error(denial.message), { data: payloadOf(denial) })));
}
