import type { SocketIoNamespace, SocketIoSocket } from './socket-io-server.js';
import type { WatchedSockets } from './watched-sockets.js';

const OWNER = Symbol('owner');

/** Kept by an adapter of a lost connection. One that writes to a store loses the symbol. */
interface KeptSession {
  readonly sid: string;
  readonly data: object;
  readonly missedPackets?: readonly unknown[];
  [OWNER]?: string | undefined;
}

interface RecoveringAdapter {
  persistSession(session: KeptSession): void;
  restoreSession(id: string, offset: string): Promise<KeptSession | null> | null;
}

/** A recovered socket. socket.io creates it with the rooms and the data of the former one. */
interface RecoveredSocket extends SocketIoSocket {
  readonly id: string;
  readonly rooms: Iterable<string>;
  recovered: boolean;
  data: object;
  leave(room: string): unknown;
  packet(packet: { readonly type: number; readonly data: unknown }): void;
}

/** The type of a socket.io packet that holds an event. */
const EVENT = 2;

/**
 * Protects connection state recovery of socket.io, which would send missed packets before the check, to any
 * client that names the former connection. Here the packets wait for the verdict, and need the same session;
 * otherwise the socket is reset to a new one.
 */
export class RecoveredSessions {
  readonly #application: WatchedSockets;
  readonly #kept = new WeakMap<object, KeptSession>();

  constructor(application: WatchedSockets) {
    this.#application = application;
  }

  /** Even if the application sets another adapter later. */
  holdBackPackets(namespace: SocketIoNamespace): void {
    let current: object = namespace.adapter;
    const hold = (adapter: object): void => {
      this.#wrap(adapter as RecoveringAdapter, namespace);
      current = adapter;
    };
    hold(current);
    Object.defineProperty(namespace, 'adapter', {
      configurable: true,
      enumerable: true,
      get: () => current,
      set: hold,
    });
  }

  #wrap(adapter: RecoveringAdapter, namespace: SocketIoNamespace): void {
    const [persist, restore] = [adapter.persistSession.bind(adapter), adapter.restoreSession.bind(adapter)];
    adapter.persistSession = (session) => {
      const client = namespace.sockets.get(session.sid);
      session[OWNER] = client && this.#application.watchedOf(client)?.fingerprint;
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

  /** Sends what its session missed to a recovered socket that is watched for it, or resets the socket. */
  settle(client: SocketIoSocket): void {
    const socket = client as RecoveredSocket;
    if (!socket.recovered) return;
    const kept = this.#kept.get(socket.data);
    if (kept?.[OWNER] !== undefined && kept[OWNER] === this.#application.watchedOf(client)?.fingerprint) {
      for (const data of kept.missedPackets ?? []) socket.packet({ type: EVENT, data });
      return;
    }
    for (const room of [...socket.rooms]) if (room !== socket.id) void socket.leave(room);
    socket.data = {};
    socket.recovered = false;
  }
}
