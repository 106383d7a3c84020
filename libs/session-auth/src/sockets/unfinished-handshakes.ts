import type { GuardDenial } from '../guard/denial.js';
import type { EngineConnection, SocketIoSocket } from './socket-io-server.js';

/** An object that ends when its connection closes. */
interface Ending {
  end(denial: GuardDenial): void;
}

/** A handshake that has begun, and whose socket is not open yet. */
export interface UnfinishedHandshake {
  /** Sets the object to end when the connection closes, or when another handshake replaces this one. */
  endsWith(target: Ending): void;
  /** Removes the handshake, because its socket is open or denied. */
  finish(): void;
}

interface Slot extends UnfinishedHandshake {
  readonly socket: SocketIoSocket;
  target: Ending | undefined;
}

/**
 * The unfinished handshakes of each connection: at most one per namespace, because a client may send any
 * number of CONNECT packets. They end when their connection closes, because socket.io does not notify sockets
 * that are not open.
 */
export class UnfinishedHandshakes {
  readonly #connections = new WeakMap<EngineConnection, Map<object, Slot>>();
  readonly #denial: GuardDenial;

  /** @param denial for handshakes that end early */
  constructor(denial: GuardDenial) {
    this.#denial = denial;
  }

  /** Begins a handshake. Ends an unfinished one of the same connection and namespace. */
  begin(socket: SocketIoSocket): UnfinishedHandshake {
    const slots = this.#slotsOf(socket.conn);
    slots.get(socket.nsp)?.target?.end(this.#denial);
    const slot: Slot = {
      socket,
      target: undefined,
      endsWith: (target) => (slot.target = target),
      finish: () => {
        if (slots.get(socket.nsp) === slot) slots.delete(socket.nsp);
      },
    };
    slots.set(socket.nsp, slot);
    return slot;
  }

  finish(socket: SocketIoSocket): void {
    const slot = this.#connections.get(socket.conn)?.get(socket.nsp);
    if (slot?.socket === socket) slot.finish();
  }

  #slotsOf(connection: EngineConnection): Map<object, Slot> {
    const existing = this.#connections.get(connection);
    if (existing) return existing;
    const slots = new Map<object, Slot>();
    this.#connections.set(connection, slots);
    connection.once('close', () => {
      for (const { target } of [...slots.values()]) target?.end(this.#denial);
    });
    return slots;
  }
}
