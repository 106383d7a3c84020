import { beforeEach, describe, expect, it } from '@jest/globals';
import { partsWith } from '../../../../test/support/session-parts.js';
import { UNAUTHENTICATED } from '../contract/outcome.js';
import { handshakeRequest } from '../kinds/handshake-request.js';
import { RecoveredSessions } from './recovered-sessions.js';
import { WatchedSockets } from './watched-sockets.js';
import { SocketIoHandshakes } from './socket-io-handshakes.js';
import type { SocketIoNamespace, SocketIoServer, SocketIoSocket } from './socket-io-server.js';

const MISSED = [
  ['news', 1],
  ['news', 2],
];

interface Kept {
  sid: string;
  data: object;
  missedPackets?: unknown[];
}

/** Keeps what socket.io asks it to, in memory. */
class Adapter {
  readonly kept = new Map<string, Kept>();
  readonly restored: unknown[] = [];
  persistSession(session: Kept): void {
    this.kept.set(session.sid, session);
  }
  restoreSession(id: string, offset: string): Promise<Kept | null> | null {
    this.restored.push([id, offset]);
    const session = this.kept.get(id);
    return id === 'none' ? null : Promise.resolve(session ?? null);
  }
}

/** A socket that socket.io has recovered from a former one, with its rooms and its data. */
class Socket {
  readonly handshake = { headers: {} };
  readonly sent: unknown[] = [];
  readonly rooms = new Set(['own', 'news', 'sports']);
  constructor(
    readonly id: string,
    public data: object = {},
    public recovered = false,
  ) {}
  leave(room: string): void {
    this.rooms.delete(room);
  }
  packet(packet: unknown): void {
    this.sent.push(packet);
  }
}

const RESET = [[], ['own'], {}, false];
const DATA = { name: 'ann' };

describe('the recovery of a connection', () => {
  let application: WatchedSockets;
  let adapter: Adapter;
  let sockets: Map<string, Socket>;
  let recovered: RecoveredSessions;
  let namespace: { adapter: Adapter; readonly sockets: Map<string, Socket> };

  beforeEach(() => {
    application = new WatchedSockets(partsWith(() => Promise.resolve(UNAUTHENTICATED)));
    [adapter, sockets] = [new Adapter(), new Map<string, Socket>()];
    recovered = new RecoveredSessions(application);
    namespace = { adapter, sockets };
    recovered.holdBackPackets(namespace as unknown as SocketIoNamespace);
  });

  const watch = (socket: Socket, token: string): Socket => {
    const client = socket as unknown as SocketIoSocket;
    const request = handshakeRequest({ headers: { 'x-auth-token': token } });
    const watched = application.watch({ client, request, options: {}, deny: () => undefined });
    if (watched) application.open(client, watched);
    return socket;
  };

  /**
   * Loses the connection of a socket that is watched for a session. Returns the data of the socket that
   * replaces it.
   */
  async function lose(token?: string, missed: object = { missedPackets: MISSED }): Promise<object> {
    const former = new Socket('former');
    if (token !== undefined) watch(former, token);
    sockets.set('former', former);
    adapter.persistSession({ sid: 'former', data: DATA, ...missed });
    sockets.clear();
    const session = await adapter.restoreSession('former', 'offset');
    expect(session).toMatchObject({ sid: 'former', data: DATA, missedPackets: [] });
    return session?.data ?? {};
  }

  const settle = (socket: Socket): unknown[] => {
    recovered.settle(socket as unknown as SocketIoSocket);
    return [socket.sent, [...socket.rooms], socket.data, socket.recovered];
  };

  it('sends the missed packets after the check, to a socket of the same session', async () => {
    const data = await lose('token');
    expect(adapter.restored).toEqual([['former', 'offset']]);
    const socket = watch(new Socket('own', data, true), 'token');
    const packets = MISSED.map((packet) => ({ type: 2, data: packet }));
    expect(settle(socket)).toEqual([packets, ['own', 'news', 'sports'], DATA, true]);
    expect(socket.data).toBe(data);
  });

  it.each([{ missedPackets: [] }, {}])('needs no missed packets: %j', async (missed) => {
    const socket = watch(new Socket('own', await lose('token', missed), true), 'token');
    expect(settle(socket)).toEqual([[], ['own', 'news', 'sports'], DATA, true]);
  });

  it.each<[string, string | undefined, string | undefined]>([
    ['of another session', 'token', 'other'],
    ['that is not watched', 'token', undefined],
    ['whose former one was not watched', undefined, 'token'],
    ['that is not watched, as its former one', undefined, undefined],
  ])('resets a socket %s, which gets none of the missed packets', async (_which, former, next) => {
    const socket = new Socket('own', await lose(former), true);
    if (next !== undefined) watch(socket, next);
    expect(settle(socket)).toEqual(RESET);
  });

  it('resets a socket whose former one had closed before its data was kept', async () => {
    adapter.persistSession({ sid: 'former', data: DATA, missedPackets: MISSED });
    const session = await adapter.restoreSession('former', 'offset');
    expect(settle(new Socket('own', session?.data, true))).toEqual(RESET);
  });

  it('resets a socket whose data the adapter did not keep', () => {
    expect(settle(watch(new Socket('own', DATA, true), 'token'))).toEqual(RESET);
  });

  it('leaves a socket as it is that was not recovered', async () => {
    const socket = watch(new Socket('own', await lose('token')), 'token');
    expect(settle(socket)).toEqual([[], ['own', 'news', 'sports'], DATA, false]);
  });

  it('leaves the kept data as it is, for the next recovery', async () => {
    Object.assign(await lose('token'), { name: 'eve' });
    expect(adapter.kept.get('former')).toMatchObject({ data: { name: 'ann' }, missedPackets: MISSED });
  });

  it('holds back the packets of an adapter that the application sets later, too', async () => {
    expect(namespace.adapter).toBe(adapter);
    namespace.adapter = adapter = new Adapter();
    expect(Object.getOwnPropertyDescriptor(namespace, 'adapter')).toMatchObject({
      configurable: true,
      enumerable: true,
    });
    expect(namespace.adapter).toBe(adapter);
    expect(settle(new Socket('own', await lose('token'), true))).toEqual(RESET);
    const socket = watch(new Socket('own', await lose('token'), true), 'token');
    expect(settle(socket)[0]).toHaveLength(MISSED.length);
  });

  it.each(['none', 'unknown'])('has no session if the adapter has none: %s', async (id) => {
    expect(await adapter.restoreSession(id, 'offset')).toBeNull();
  });
});

describe('a protected server of socket.io', () => {
  const serverWith = (connectionStateRecovery: object | false | undefined) => {
    const adapter = new Adapter();
    const namespace = {
      adapter,
      use: () => undefined,
      prependListener: () => undefined,
      on: () => undefined,
      server: undefined as unknown,
    };
    const server = {
      opts: { connectionStateRecovery },
      _nsps: new Map([['/', namespace]]),
      of: () => namespace,
    };
    namespace.server = server;
    new SocketIoHandshakes({} as WatchedSockets).protect(server as unknown as SocketIoServer, () => ({}));
    return { adapter, server };
  };

  it('never skips its middlewares when it recovers a connection, and holds back the packets', () => {
    const { adapter, server } = serverWith({ skipMiddlewares: true });
    expect(server.opts.connectionStateRecovery).toEqual({ skipMiddlewares: false });
    expect(Object.keys(adapter)).toEqual(expect.arrayContaining(['persistSession', 'restoreSession']));
  });

  it.each<[false | undefined]>([[false], [undefined]])(
    'keeps its adapter without recovery: %p',
    (recovery) => {
      const { adapter, server } = serverWith(recovery);
      expect([server.opts.connectionStateRecovery, Object.keys(adapter)]).toEqual([
        recovery,
        ['kept', 'restored'],
      ]);
    },
  );
});
