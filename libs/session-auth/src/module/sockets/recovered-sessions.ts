import type { SocketIoNamespace, SocketIoSocket } from './socket-io-server.js';
import type { WatchedSockets } from './watched-sockets.js';

const OWNER = Symbol('owner');

/** What an adapter keeps of a socket whose connection was lost; the symbol is lost where an adapter writes it to a store. */
interface KeptSession {
  readonly sid: string;
  readonly data: object;
  readonly missedPackets?: readonly unknown[];
  [OWNER]?: string | undefined;
}

/** The part of an adapter that recovers connections. */
interface RecoveringAdapter {
  persistSession(session: KeptSession): void;
  restoreSession(id: string, offset: string): Promise<KeptSession | null> | null;
}

/** A socket that was recovered: socket.io builds it with rooms and data of the former one. */
interface RecoveredSocket extends SocketIoSocket {
  readonly id: string;
  readonly rooms: Iterable<string>;
  recovered: boolean;
  data: object;
  leave(room: string): unknown;
  packet(packet: { readonly type: number; readonly data: unknown }): void;
}

/** The type of a packet of socket.io that holds an event. */
const EVENT = 2;

/**
 * Connection state recovery of socket.io: it would send what a client missed before anything is checked, and to whoever names the former
 * connection. Here that waits for the verdict, and needs the same session: else the socket starts anew.
 */
export class RecoveredSessions {
  readonly #watched: WatchedSockets;
  readonly #kept = new WeakMap<object, KeptSession>();

  constructor(watched: WatchedSockets) {
    this.#watched = watched;
  }

  /** Keeps back the packets of recovered sockets in a namespace. */
  holdBackPackets(namespace: SocketIoNamespace): void {
    const adapter = namespace.adapter as RecoveringAdapter;
    const [persist, restore] = [adapter.persistSession.bind(adapter), adapter.restoreSession.bind(adapter)];
    adapter.persistSession = (session) => {
      const client = namespace.sockets.get(session.sid);
      session[OWNER] = client && this.#watched.ownerOf(client);
      persist(session);
    };
    adapter.restoreSession = async (id, offset) => {
      const session = await restore(id, offset);
      if (!session) return null;
      const data = { ...session.data };
      this.#kept.set(data, session);
      return { ...session, data, missedPackets: [] };
    };
  }

  /** A socket is watched for a valid session: it gets what that session missed, or starts anew. */
  settle(client: SocketIoSocket): void {
    const socket = client as RecoveredSocket;
    if (!socket.recovered) return;
    const kept = this.#kept.get(socket.data);
    if (kept?.[OWNER] !== undefined && kept[OWNER] === this.#watched.ownerOf(client)) {
      for (const data of kept.missedPackets ?? []) socket.packet({ type: EVENT, data });
      return;
    }
    for (const room of [...socket.rooms]) if (room !== socket.id) void socket.leave(room);
    socket.data = {};
    socket.recovered = false;
  }
}
