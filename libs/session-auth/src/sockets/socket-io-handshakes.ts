import { SESSION_REJECTED } from '../contract/denials.js';
import { unavailable } from '../contract/outcome.js';
import { denialOfVerdict, type GuardDenial, reportDenial, withoutStack } from '../guard/denial.js';
import { payloadOf } from '../kinds/client-denial.js';
import { disconnect, handshakeOf, whenClosed } from '../kinds/socket-client.js';
import type { Watched } from '../open/watched-sessions.js';
import type {
  EngineConnection,
  SocketIoNamespace,
  SocketIoServer,
  SocketIoSocket,
} from './socket-io-server.js';
import type { SessionSocketOptions } from './socket-options.js';
import { type WatchedSockets, whenAdmitted } from './watched-sockets.js';

/** Of a handshake that ends early. */
const REPLACED = denialOfVerdict(unavailable('busy', 1));

interface Handshake {
  readonly socket: SocketIoSocket;
  target?: Pick<Watched, 'end'>;
}

/**
 * The unfinished handshakes of each connection: at most one per namespace, because a client may send any
 * number of CONNECT packets. They end when their connection closes, because socket.io does not notify sockets
 * that are not open.
 */
export class UnfinishedHandshakes {
  readonly #connections = new WeakMap<EngineConnection, Map<object, Handshake>>();

  /** Ends an unfinished one of the same connection and namespace. */
  begin(socket: SocketIoSocket): Handshake {
    const ofNamespaces = this.#handshakesOf(socket.conn);
    ofNamespaces.get(socket.nsp)?.target?.end(REPLACED);
    const handshake: Handshake = { socket };
    ofNamespaces.set(socket.nsp, handshake);
    return handshake;
  }

  /** Its socket is open or denied. */
  finish(socket: SocketIoSocket): void {
    const ofNamespaces = this.#connections.get(socket.conn);
    if (ofNamespaces?.get(socket.nsp)?.socket === socket) ofNamespaces.delete(socket.nsp);
  }

  #handshakesOf(connection: EngineConnection): Map<object, Handshake> {
    const existing = this.#connections.get(connection);
    if (existing) return existing;
    const handshakes = new Map<object, Handshake>();
    this.#connections.set(connection, handshakes);
    connection.once('close', () => {
      for (const { target } of handshakes.values()) target?.end(REPLACED);
    });
    return handshakes;
  }
}

type Options = () => SessionSocketOptions;
type Next = (error?: Error) => void;

/** Checks sockets of socket.io before their namespace opens them: until then, no event reaches them. */
export class SocketIoHandshakes {
  readonly #application: WatchedSockets;
  readonly #unfinished = new UnfinishedHandshakes();

  constructor(application: WatchedSockets) {
    this.#application = application;
  }

  /** Reads `options` at each handshake. */
  protect(server: SocketIoServer, options: Options): void {
    for (const namespace of server._nsps.values()) this.#protectNamespace(namespace, options);
    server.of('/').on('new_namespace', (namespace) => this.#protectNamespace(namespace, options));
  }

  #protectNamespace(namespace: SocketIoNamespace, options: Options): void {
    namespace.use((socket, next) => {
      // Middlewares of the application may have run for long, and no `close` would end the handshake.
      if (socket.conn.readyState === 'closed') deny(REPLACED, next);
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
      deny: (denial) => {
        this.#unfinished.finish(socket);
        deny(denial, next);
      },
    });
    if (!watched) return;
    handshake.target = watched;
    whenAdmitted(watched, () => {
      this.#application.open(socket, watched);
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
function deny(denial: GuardDenial, next: Next): void {
  reportDenial(denial);
  next(withoutStack(() => Object.assign(new Error(denial.message), { data: payloadOf(denial) })));
}
