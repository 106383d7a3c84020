import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { partsWith, receivedRequest } from '../../../../test/support/session-parts.js';
import { DENIAL_CHANNEL } from '../contract/diagnostics.js';
import { UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { tokenKeyOf } from '../contract/session-identity.js';
import { fromBearer, fromHeader } from '../guard/token-source.js';
import { handshakeOf } from '../kinds/socket-client.js';
import type { EventSource } from '../module/events/event-source.js';
import { WatchedSockets } from './watched-sockets.js';
import { WsHandshakes } from './ws-handshakes.js';
import type { Answer, WsServer } from './ws-server.js';

const ANN = { kind: 'authenticated', user: { username: 'ann' } } as const;
const FIXED = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' };

/** A server of ws, without a port. */
class Server extends EventEmitter {
  readonly options: WsServer['options'] = {};
  handleUpgrade = (): void => undefined;
}

class Connection extends EventEmitter {
  destroyed = false;
  bytesWritten = 0;
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

class Socket extends EventEmitter {
  readyState = 1;
  readonly closings: unknown[] = [];
  readonly close = (code: number): void => void this.closings.push(code);
  readonly terminate = (): void => void this.closings.push('terminated');
}

describe('the handshakes of ws', () => {
  let calls: ((verdict: Verdict<UserRecord>) => void)[];
  let server: Server;
  let source: EventSource;
  let application: WatchedSockets;
  const denials: unknown[] = [];
  const record = (message: unknown): void => void denials.push(message);

  beforeEach(() => {
    [calls, denials.length, server] = [[], 0, new Server()];
    const ask = (): Promise<Verdict<UserRecord>> => new Promise((resolve) => calls.push(resolve));
    const sources = [fromHeader('x-auth-token'), fromBearer()];
    const parts = partsWith(ask, { sources });
    source = parts.ends;
    application = new WatchedSockets(parts);
    new WsHandshakes(application).protect(server, () => ({}));
    subscribe(DENIAL_CHANNEL, record);
  });
  afterEach(() => {
    unsubscribe(DENIAL_CHANNEL, record);
    source.complete();
  });

  /** Begins a handshake, and has its answers. */
  function handshake(
    headers: Record<string, string> = { 'x-auth-token': 'token' },
    onAnswer: () => void = () => undefined,
  ) {
    const connection = new Connection();
    const request = Object.assign(receivedRequest(headers), { socket: connection as never });
    const answers: unknown[][] = [];
    const verify = server.options.verifyClient as (info: object, answer: Answer) => void;
    verify({ req: request }, (...answer) => {
      answers.push(answer);
      onAnswer();
    });
    return { connection, request, answers };
  }
  /** Opens the socket of a request, as ws does for one that is accepted. */
  function open(request: IncomingMessage): Socket {
    const client = new Socket();
    server.emit('connection', client, request);
    return client;
  }
  const answer = async (verdict: Verdict<UserRecord> = ANN): Promise<void> => {
    calls.at(-1)?.(verdict);
    await new Promise(setImmediate);
  };
  const counts = (): unknown[] => Object.values(application.count());

  it('without a token are answered at once, with the headers and the body of the guard', () => {
    const { connection, answers } = handshake({});
    const body = {
      statusCode: 401,
      message: 'A session token is required',
      error: 'Unauthorized',
      code: 'SESSION_REQUIRED',
    };
    const challenge = 'X-Auth-Token realm="session"';
    expect(answers).toEqual([
      [false, 401, JSON.stringify(body), { ...FIXED, 'www-authenticate': challenge }],
    ]);
    expect([denials, connection.eventNames()]).toEqual([[{ code: 'SESSION_REQUIRED' }], []]);
  });

  it.each<[Verdict<UserRecord>, number, string, object]>([
    [
      UNAUTHENTICATED,
      401,
      'SESSION_REJECTED',
      { 'www-authenticate': 'X-Auth-Token realm="session", error="invalid_token"' },
    ],
    [unavailable('server_error', 9), 503, 'SESSION_SERVICE_UNAVAILABLE', { 'retry-after': '9' }],
  ])('wait for their verdict, and are answered by it: $kind', async (verdict, status, code, headers) => {
    const { connection, answers } = handshake({ authorization: 'Bearer token' });
    expect([answers, denials, counts(), connection.eventNames()]).toEqual([[], [], [0, 1], ['close', 'end']]);
    await answer(verdict);
    expect(answers).toEqual([
      [false, status, expect.stringContaining(`"code":"${code}"`), { ...FIXED, ...headers }],
    ]);
    expect([denials, counts(), connection.eventNames(), connection.destroyed]).toEqual([
      [{ code }],
      [0, 0],
      ['close'],
      false,
    ]);
  });

  it('that are accepted open a watched socket, whose messages have the request and the user', async () => {
    const { connection, request, answers } = handshake();
    await answer();
    expect([answers, denials, connection.eventNames(), counts()]).toEqual([[[true]], [], ['close'], [1, 0]]);
    const client = open(request);
    expect([client.closings, counts(), application.watchedOf(client)?.user]).toEqual([[], [1, 0], ANN.user]);
    expect(handshakeOf(client).headers).toMatchObject({ 'x-auth-token': 'token' });
    source.emitEnded(tokenKeyOf('token'));
    expect([client.closings, counts()]).toEqual([[4401], [0, 0]]);
  });

  it('open a socket that is watched until it closes', async () => {
    const { request, connection } = handshake();
    await answer();
    open(request);
    connection.destroy();
    expect(counts()).toEqual([0, 0]);
  });

  it('open one socket each: another one of the same request is terminated', async () => {
    const { request } = handshake();
    await answer();
    expect([open(request), open(request)].map(({ closings }) => closings)).toEqual([[], ['terminated']]);
  });

  it.each(['denied', 'not checked', 'in progress'])(
    'open no socket if they are %s: it is terminated',
    (how) => {
      const request =
        how === 'not checked'
          ? ({ headers: {} } as IncomingMessage)
          : handshake(how === 'denied' ? {} : undefined).request;
      expect([open(request).closings, application.count().watched]).toEqual([['terminated'], 0]);
    },
  );

  it('end when their connection closes, and are not answered', async () => {
    const [left, other] = [handshake(), handshake()];
    left.connection.destroy();
    expect(counts()).toEqual([0, 1]);
    await answer();
    expect([left.answers, denials, other.answers]).toEqual([[], [], [[true]]]);
  });

  it("are not watched if their connection has closed during the application's own check", async () => {
    let accept: Answer = () => undefined;
    server.options.verifyClient = (_info: object, answer: Answer) => (accept = answer);
    const { connection, answers } = handshake();
    connection.destroy();
    accept(true);
    await answer();
    expect([answers, denials, calls, counts()]).toEqual([[], [], [], [0, 0]]);
  });

  it('close their connection when the client ends its side', () => {
    const { connection, answers } = handshake();
    connection.emit('end');
    expect([connection.destroyed, answers, counts()]).toEqual([true, [], [0, 0]]);
  });

  it('end at once when their session ends', () => {
    const { connection, answers } = handshake();
    source.emitEnded(tokenKeyOf('token'));
    expect([answers[0]?.slice(0, 2), connection.eventNames(), counts()]).toEqual([
      [false, 401],
      ['close'],
      [0, 0],
    ]);
  });

  it('close their connection if their session ends before the server opens the socket', async () => {
    const { connection, request, answers } = handshake();
    await answer();
    source.emitEnded(tokenKeyOf('token'));
    expect([connection.destroyed, answers, counts()]).toEqual([true, [[true]], [0, 0]]);
    expect(open(request).closings).toEqual(['terminated']);
  });

  it.each([
    ['before the head, and while the handshake is denied', 0, [[true], [false, 503]]],
    ['after the head', 1, [[true]]],
  ])('close their connection if code of the application throws %s', async (_when, written, expected) => {
    const { connection, request, answers } = handshake(undefined, () => {
      connection.bytesWritten += written;
      throw new Error('fault');
    });
    await answer();
    expect([answers, connection.destroyed, counts()]).toEqual([expected, true, [0, 0]]);
    expect(request.socket).toBe(connection);
  });
});
