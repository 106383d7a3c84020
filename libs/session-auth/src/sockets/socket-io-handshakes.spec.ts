import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { ANN, WaitingSockets } from '../../../../test/support/waiting-sockets.js';
import { tokenKeyOf } from '../contract/session-identity.js';
import { SocketIoHandshakes } from './socket-io-handshakes.js';
import type { SocketIoNamespace, SocketIoServer, SocketIoSocket } from './socket-io-server.js';

const BUSY = { data: { statusCode: 503, code: 'SESSION_SERVICE_UNAVAILABLE', retryAfterSeconds: 1 } };

/** A namespace that runs its middleware, and opens the sockets that it admits. */
class Namespace extends EventEmitter {
  readonly middlewares: Parameters<SocketIoNamespace['use']>[0][] = [];
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
    token?: string,
    readonly conn = new Connection(),
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
  const bed = new WaitingSockets({ cache: {} });
  const { answer, counts, denials } = bed;
  let main: Namespace;
  let news: Namespace;

  beforeEach(() => {
    [main, news] = [new Namespace(), new Namespace()];
    // Of the application, before the server is protected.
    main.on('connect', (socket: Socket) => socket.emit('hello'));
    const _nsps = new Map(Object.entries({ '/': main, '/news': news }));
    const server = { opts: {}, _nsps, of: (name: string) => _nsps.get(name) };
    new SocketIoHandshakes(bed.application).protect(server as unknown as SocketIoServer, () => ({}));
  });

  it('are checked once in each namespace: in those that exist, and in those created later', () => {
    const later = new Namespace();
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
    const socket = new Socket(news, 'token');
    expect([socket.verdicts, counts()]).toEqual([[], [0, 1]]);
    await answer();
    expect([socket.verdicts, denials, counts()]).toEqual([[undefined], [], [1, 0]]);
    socket.open();
    expect([socket.sent, bed.application.watchedOf(socket)?.user]).toEqual([[], ANN.user]);
  });

  it('end when their connection closes, in each of its namespaces', async () => {
    const [first, second] = [new Socket(news, 'token'), new Socket(news, 'token')];
    const other = new Socket(main, 'token', first.conn);
    expect(first.conn.listenerCount('close')).toBe(1);
    first.conn.close();
    expect([first.verdicts, other.verdicts, second.verdicts]).toMatchObject([[BUSY], [BUSY], []]);
    expect(counts()).toEqual([0, 1]);
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
    new Socket(news, 'token').conn.close();
    await answer();
    const socket = new Socket(news, 'token');
    expect([socket.verdicts, counts()]).toEqual([[undefined], [1, 0]]);
    socket.conn.close();
    expect([socket.verdicts, counts(), bed.calls.length]).toEqual([[undefined], [0, 0], 1]);
  });

  it('are not checked if their connection has closed', () => {
    const connection = new Connection();
    connection.close();
    const { verdicts } = new Socket(news, 'token', connection);
    expect([verdicts, bed.calls, counts()]).toMatchObject([[BUSY], [], [0, 0]]);
  });

  it('end when the client begins another one in the same namespace, and not in another', async () => {
    const first = new Socket(news, 'token');
    const other = new Socket(main, 'token', first.conn);
    expect(first.verdicts).toEqual([]);
    const second = new Socket(news, 'token', first.conn);
    expect([first.verdicts, second.verdicts, other.verdicts]).toMatchObject([[BUSY], [], []]);
    await answer();
    const third = new Socket(news, 'third', first.conn);
    expect([second.verdicts, counts()]).toEqual([[undefined], [1, 1]]);
    second.open();
    first.conn.close();
    expect([third.verdicts, counts()]).toMatchObject([[BUSY], [0, 0]]);
  });

  it('that have ended are not ended again by the next one', () => {
    const denied = new Socket(news);
    new Socket(news, 'token', denied.conn);
    expect(denied.verdicts).toHaveLength(1);
  });

  it('are over once the socket is open: it outlives the next one of its connection', async () => {
    const socket = new Socket(news, 'token');
    await answer();
    socket.open();
    new Socket(news, undefined, socket.conn);
    expect([socket.sent, counts()]).toEqual([[], [1, 0]]);
  });

  it('whose session ends before the socket opens, close the socket when it opens, before any event', async () => {
    const socket = new Socket(main, 'token');
    await answer();
    bed.source.emitEnded(tokenKeyOf('token'));
    expect(socket.sent).toEqual([]);
    socket.open();
    expect(socket.sent).toEqual(['exception', 'disconnected', 'hello']);
  });

  it('that were not checked close the socket when it opens', () => {
    const socket = new Socket(news);
    socket.open();
    expect(socket.sent).toEqual(['exception', 'disconnected']);
  });
});
