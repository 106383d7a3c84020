import { unavailable } from '../contract/outcome.js';
import { denialOfVerdict } from '../guard/denial.js';
import type { Watched } from '../open/watched-sessions.js';
import type { EngineConnection, SocketIoSocket } from './socket-io-server.js';

/** Of a handshake that ends early. */
export const REPLACED = denialOfVerdict(unavailable('busy', 1));

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
