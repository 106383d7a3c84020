import type { GuardDenial } from '../../guard/http-denial.js';
import type { EndsWithSession } from './session-index.js';
import type { EngineConnection, SocketIoSocket } from './socket-io-server.js';

/** A handshake that has begun and whose socket is not open yet. */
export interface UnfinishedHandshake {
  /** Names what to end when the connection closes, or when the next handshake takes this one's place. */
  endsWith(part: EndsWithSession): void;
  finish(): void;
}

interface Place extends UnfinishedHandshake {
  readonly socket: SocketIoSocket;
  part: EndsWithSession | undefined;
}

/**
 * The unfinished handshakes of each connection: one for each namespace, because a client may send as many CONNECT packets as it likes. They end
 * with their connection, of which socket.io tells no socket that is not open.
 */
export class UnfinishedHandshakes {
  readonly #connections = new WeakMap<EngineConnection, Map<object, Place>>();
  readonly #denial: GuardDenial;

  /** `denial` is what a handshake gets that ends before its time. */
  constructor(denial: GuardDenial) {
    this.#denial = denial;
  }

  begin(socket: SocketIoSocket): UnfinishedHandshake {
    const places = this.#placesOf(socket.conn);
    places.get(socket.nsp)?.part?.end(this.#denial);
    const place: Place = {
      socket,
      part: undefined,
      endsWith: (part) => (place.part = part),
      finish: () => {
        if (places.get(socket.nsp) === place) places.delete(socket.nsp);
      },
    };
    places.set(socket.nsp, place);
    return place;
  }

  /** The socket is open. */
  finish(socket: SocketIoSocket): void {
    const place = this.#connections.get(socket.conn)?.get(socket.nsp);
    if (place?.socket === socket) place.finish();
  }

  #placesOf(connection: EngineConnection): Map<object, Place> {
    const known = this.#connections.get(connection);
    if (known) return known;
    const places = new Map<object, Place>();
    this.#connections.set(connection, places);
    connection.once('close', () => {
      for (const { part } of [...places.values()]) part?.end(this.#denial);
    });
    return places;
  }
}
