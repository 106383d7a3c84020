import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { partsWith } from '../../../../test/support/session-parts.js';
import { DENIAL_CHANNEL } from '../contract/diagnostics.js';
import type { Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { tokenKeyOf } from '../contract/session-identity.js';
import type { EventSource } from '../module/events/event-source.js';
import { WatchedSockets } from './watched-sockets.js';
import { SocketIoHandshakes } from './socket-io-handshakes.js';
import type { SocketIoNamespace, SocketIoServer, SocketIoSocket } from './socket-io-server.js';

const ANN: Verdict<UserRecord> = { kind: 'authenticated', user: { username: 'ann' } };

/** A namespace that runs its middleware, and opens the sockets that it admits. */
class Namespace extends EventEmitter {
  readonly adapter = {};
  readonly sockets = new Map<string, SocketIoSocket>();
  readonly middlewares: Parameters<SocketIoNamespace['use']>[0][] = [];
  constructor(readonly server: object) {
    super();
  }
  use(middleware: Parameters<SocketIoNamespace['use']>[0]): void {
    this.middlewares.push(middleware);
  }
}

class Connection extends EventEmitter {
  readyState = 'open';
  close(): void {
    this.readyState = 'closed';
    this.emit('close');
  }
}

/** A socket from its handshake on. Has the errors that the middleware of its namespace gave. */
class Socket {
  connected = false;
  readonly sent: unknown[] = [];
  readonly verdicts: (Error | undefined)[] = [];
  readonly handshake: object;
  constructor(
    readonly nsp: Namespace,
    readonly conn = new Connection(),
    token?: string,
  ) {
    this.handshake = { headers: {}, auth: { token } };
    for (const middleware of nsp.middlewares)
      middleware(this as unknown as SocketIoSocket, (error) => this.verdicts.push(error));
  }
  open(): void {
    this.connected = true;
    this.nsp.emit('connect', this);
  }
  emit(event: string): void {
    this.sent.push(event);
  }
  disconnect(): void {
    this.sent.push('disconnected');
  }
  readonly once = (): void => undefined;
}

describe('the handshakes of socket.io', () => {
  let calls: ((verdict: Verdict<UserRecord>) => void)[];
  let server: SocketIoServer;
  let main: Namespace;
  let news: Namespace;
  let application: WatchedSockets;
  let source: EventSource;
  const denials: unknown[] = [];
  const record = (message: unknown): void => void denials.push(message);

  beforeEach(() => {
    [calls, denials.length] = [[], 0];
    server = {
      opts: {},
      _nsps: new Map(),
      of: (name: string) => (name === '/' ? main : undefined),
    } as unknown as SocketIoServer;
    [main, news] = [new Namespace(server), new Namespace(server)];
    (server._nsps as Map<string, unknown>).set('/', main).set('/news', news);
    const ask = (): Promise<Verdict<UserRecord>> => new Promise((resolve) => calls.push(resolve));
    const parts = partsWith(ask, { cache: {} });
    source = parts.ends;
    application = new WatchedSockets(parts);
    new SocketIoHandshakes(application).protect(server, () => ({}));
    subscribe(DENIAL_CHANNEL, record);
  });
  afterEach(() => {
    unsubscribe(DENIAL_CHANNEL, record);
    source.complete();
  });

  const answer = async (verdict: Verdict<UserRecord> = ANN): Promise<void> => {
    calls.at(-1)?.(verdict);
    await new Promise(setImmediate);
  };
  const counts = (): unknown[] => Object.values(application.count());
  const BUSY = { data: { statusCode: 503, code: 'SESSION_SERVICE_UNAVAILABLE', retryAfterSeconds: 1 } };

  it('are checked once in each namespace: in those that exist, and in those created later', () => {
    const later = new Namespace(server);
    main.emit('new_namespace', later);
    expect([main, news, later].map(({ middlewares }) => middlewares.length)).toEqual([1, 1, 1]);
  });

  it('that are denied get the denial at once, which is published', () => {
    const { verdicts } = new Socket(news);
    expect(verdicts).toEqual([expect.objectContaining({ message: 'A session token is required' })]);
    expect(verdicts).toMatchObject([
      { data: { status: 'error', statusCode: 401, code: 'SESSION_REQUIRED' } },
    ]);
    expect(verdicts[0]?.stack).not.toContain('\n');
    expect([denials, counts()]).toEqual([[{ code: 'SESSION_REQUIRED' }], [0, 0]]);
  });

  it('wait for their verdict, and are admitted by it', async () => {
    const socket = new Socket(news, undefined, 'token');
    expect([socket.verdicts, counts()]).toEqual([[], [0, 1]]);
    await answer();
    expect([socket.verdicts, denials, counts()]).toEqual([[undefined], [], [1, 0]]);
    socket.open();
    expect([socket.sent, application.watchedOf(socket)?.user]).toEqual([[], ANN.user]);
  });

  it('end when their connection closes', async () => {
    const [first, second] = [new Socket(news, undefined, 'token'), new Socket(news, undefined, 'token')];
    first.conn.close();
    expect([first.verdicts, second.verdicts, counts()]).toMatchObject([[BUSY], [], [0, 1]]);
    await answer();
    second.conn.close();
    expect([first.verdicts.length, second.verdicts, second.sent, counts()]).toEqual([
      1,
      [undefined],
      [],
      [0, 0],
    ]);
  });

  it('of a cached session are admitted at once, and end when their connection closes', async () => {
    new Socket(news, undefined, 'token').conn.close();
    await answer();
    const socket = new Socket(news, undefined, 'token');
    expect([socket.verdicts, counts()]).toEqual([[undefined], [1, 0]]);
    socket.conn.close();
    expect([socket.verdicts, counts(), calls.length]).toEqual([[undefined], [0, 0], 1]);
  });

  it('are not checked if their connection has closed', () => {
    const connection = new Connection();
    connection.close();
    const { verdicts } = new Socket(news, connection, 'token');
    expect([verdicts, calls, counts()]).toMatchObject([[BUSY], [], [0, 0]]);
  });

  it('end when the client begins another one in the same namespace', async () => {
    const first = new Socket(news, undefined, 'token');
    const second = new Socket(news, first.conn, 'token');
    expect([first.verdicts, second.verdicts]).toMatchObject([[BUSY], []]);
    await answer();
    new Socket(news, first.conn, 'other');
    expect([second.verdicts, counts()]).toEqual([[undefined], [0, 1]]);
  });

  it('that have ended are not ended again by the next one', () => {
    const denied = new Socket(news);
    new Socket(news, denied.conn, 'token');
    expect(denied.verdicts).toHaveLength(1);
  });

  it('are over once the socket is open: it outlives the next one of its connection', async () => {
    const socket = new Socket(news, undefined, 'token');
    await answer();
    socket.open();
    new Socket(news, socket.conn);
    expect([socket.sent, counts()]).toEqual([[], [1, 0]]);
  });

  it('whose session ends before the socket opens, close the socket when it opens', async () => {
    const socket = new Socket(news, undefined, 'token');
    await answer();
    source.emitEnded(tokenKeyOf('token'));
    expect(socket.sent).toEqual([]);
    socket.open();
    expect(socket.sent).toEqual(['exception', 'disconnected']);
  });

  it('that were not checked close the socket when it opens', () => {
    const socket = new Socket(news);
    socket.open();
    expect(socket.sent).toEqual(['exception', 'disconnected']);
  });
});
