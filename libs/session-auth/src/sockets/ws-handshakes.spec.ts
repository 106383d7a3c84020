import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { receivedRequest } from '../../../../test/support/session-parts.js';
import { ANN, WaitingSockets, WsSocket } from '../../../../test/support/waiting-sockets.js';
import { SESSION_REJECTED } from '../contract/denials.js';
import { UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { tokenKeyOf } from '../contract/session-identity.js';
import { fromBearer, fromHeader, type TokenSource } from '../guard/token-source.js';
import { handshakeRequest } from '../kinds/handshake-request.js';
import { handshakeOf } from '../kinds/socket-client.js';
import { whenAdmitted } from './watched-sockets.js';
import { WsHandshakes } from './ws-handshakes.js';
import type { Answer, WsServer } from './ws-server.js';

const FIXED = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' };
const CHALLENGE = 'X-Auth-Token realm="session"';

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

describe('the handshakes of ws', () => {
  const contexts: ExecutionContext[] = [];
  const ownSource: TokenSource = (context) => void contexts.push(context);
  const bed = new WaitingSockets({ sources: [ownSource, fromHeader('x-auth-token'), fromBearer()] });
  const { answer, counts, denials } = bed;
  let server: Server;

  beforeEach(() => {
    [server, contexts.length] = [new Server(), 0];
    new WsHandshakes(bed.application).protect(server, () => ({}));
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
  function open(request: IncomingMessage): WsSocket {
    const client = new WsSocket();
    server.emit('connection', client, request);
    return client;
  }

  it('without a token are answered at once, with the headers and the body of the guard', () => {
    const { connection, answers } = handshake({});
    const message = 'A session token is required';
    const body = { statusCode: 401, message, error: 'Unauthorized', code: 'SESSION_REQUIRED' };
    expect(answers).toEqual([
      [false, 401, JSON.stringify(body), { ...FIXED, 'www-authenticate': CHALLENGE }],
    ]);
    expect([denials, connection.eventNames()]).toEqual([[{ code: 'SESSION_REQUIRED' }], []]);
  });

  it('are calls in a context of their client for the token sources of an application', () => {
    const { request } = handshake();
    expect(contexts.map((context) => [context.getType(), context.getArgs()])).toEqual([
      ['ws', [request, undefined, 'connection']],
    ]);
  });

  it.each<[Verdict<UserRecord>, number, string, object]>([
    [UNAUTHENTICATED, 401, 'SESSION_REJECTED', { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` }],
    [unavailable('server_error', 9), 503, 'SESSION_SERVICE_UNAVAILABLE', { 'retry-after': '9' }],
  ])('wait for their verdict, and are answered by it: $kind', async (verdict, status, code, headers) => {
    const { connection, answers } = handshake({ authorization: 'Bearer token' });
    expect([answers, denials, counts(), connection.eventNames()]).toEqual([[], [], [0, 1], ['close', 'end']]);
    await answer(verdict);
    const body: unknown = expect.stringContaining(`"code":"${code}"`);
    expect(answers).toEqual([[false, status, body, { ...FIXED, ...headers }]]);
    expect([denials, counts(), connection.eventNames()]).toEqual([[{ code }], [0, 0], ['close']]);
    expect(connection.destroyed).toBe(false);
  });

  it('that are accepted open a watched socket, whose messages have the request and the user', async () => {
    const { connection, request, answers } = handshake();
    await answer();
    expect([answers, denials, connection.eventNames(), counts()]).toEqual([[[true]], [], ['close'], [1, 0]]);
    const client = open(request);
    expect([client.closings, counts(), bed.application.watchedOf(client)?.user]).toEqual([
      [],
      [1, 0],
      ANN.user,
    ]);
    expect(handshakeOf(client).headers).toMatchObject({ 'x-auth-token': 'token' });
    bed.source.emitEnded(tokenKeyOf('token'));
    expect([client.closings, counts()]).toEqual([[[4401, 'SESSION_REJECTED']], [0, 0]]);
    expect(bed.application.watchedOf(client)).toBeUndefined();
  });

  it('open one socket each, which is watched until its connection closes', async () => {
    const { request, connection } = handshake();
    await answer();
    expect([open(request), open(request)].map(({ closings }) => closings)).toEqual([[], ['terminated']]);
    connection.destroy();
    expect(counts()).toEqual([0, 0]);
  });

  it('open no socket if they are denied, in progress or not checked: it is terminated', () => {
    for (const request of [handshake({}).request, handshake().request, receivedRequest()])
      expect(open(request).closings).toEqual(['terminated']);
    expect(counts()).toEqual([0, 1]);
  });

  it('end when their connection closes, and are not answered', async () => {
    const [left, other] = [handshake(), handshake()];
    left.connection.destroy();
    expect(counts()).toEqual([0, 1]);
    await answer();
    expect([left.answers, denials, other.answers]).toEqual([[], [], [[true]]]);
  });

  it("are not watched if their connection has closed during the application's own check", () => {
    let accept: Answer = () => undefined;
    server.options.verifyClient = (_info: object, answer: Answer) => (accept = answer);
    const { connection, answers } = handshake();
    connection.destroy();
    accept(true);
    expect([answers, denials, bed.calls, counts()]).toEqual([[], [], [], [0, 0]]);
  });

  it('close their connection when the client ends its side', () => {
    const { connection, answers } = handshake();
    connection.emit('end');
    expect([connection.destroyed, answers, counts()]).toEqual([true, [], [0, 0]]);
  });

  it('end at once when their session ends', () => {
    const { connection, answers } = handshake();
    bed.source.emitEnded(tokenKeyOf('token'));
    expect([answers[0]?.slice(0, 2), counts()]).toEqual([
      [false, 401],
      [0, 0],
    ]);
    expect(connection.eventNames()).toEqual(['close']);
  });

  it('are not admitted if their session ends right after the verdict', async () => {
    const [deny, admit] = [jest.fn(), jest.fn()];
    const request = handshakeRequest({ headers: { 'x-auth-token': 'token' } });
    const watched = bed.application.watch({ client: {}, request, options: {}, deny });
    void Promise.resolve(watched?.confirm()).then(() => watched?.end(SESSION_REJECTED));
    if (watched) whenAdmitted(watched, admit);
    await answer();
    expect([deny.mock.calls, admit.mock.calls]).toEqual([[[SESSION_REJECTED]], []]);
  });

  it('close their connection if their session ends before the server opens the socket', async () => {
    const { connection, request, answers } = handshake();
    await answer();
    bed.source.emitEnded(tokenKeyOf('token'));
    expect([connection.destroyed, answers, counts()]).toEqual([true, [[true]], [0, 0]]);
    expect(open(request).closings).toEqual(['terminated']);
  });

  it.each([
    ['before the head, and while the handshake is denied', 0, [[true], [false, 503]]],
    ['after the head', 1, [[true]]],
  ])('close their connection if code of the application throws %s', async (_when, written, expected) => {
    const { connection, answers } = handshake(undefined, () => {
      connection.bytesWritten += written;
      throw new Error('fault');
    });
    await answer();
    expect([answers, connection.destroyed, counts()]).toEqual([expected, true, [0, 0]]);
  });
});
