import { EventEmitter } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket as Connection } from 'node:net';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Deadlines } from '../client/deadline.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import type { GuardParts } from '../guard/guard-parts.js';
import { SessionReader, fromCookie, fromHeader } from '../guard/token-source.js';
import { handshakeOf, type SocketClient } from '../kinds/socket-client.js';
import { Lanes } from '../verifier/lanes.js';
import { SessionVerifier } from '../verifier/session-verifier.js';
import { EventSource } from '../module/events/event-source.js';
import { OpenSocketChecks } from './open-socket-checks.js';
import { ApplicationSockets } from './application-sockets.js';

const ANN = { kind: 'authenticated', user: { username: 'ann' } } as const;
const LIMITS = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 10, maxQueued: 10 };
const WHILE_OPEN = { recheckMs: 60_000, outageGraceMs: 1 };
const UPGRADE = received({ 'x-auth-token': 'token' });

/** A request of Node.js. */
function received(headers: Record<string, string>): IncomingMessage {
  return Object.assign(new IncomingMessage(new Connection()), {
    headers,
    rawHeaders: Object.entries(headers).flat(),
  });
}

/** An open socket of ws. */
class Socket extends EventEmitter {
  readyState = 1;
  readonly sent: unknown[] = [];
  readonly closings: unknown[] = [];
  send(message: string): void {
    this.sent.push(message);
  }
  close(code: number, reason: string): void {
    this.closings.push([code, reason]);
  }
}

describe('the check of an open socket', () => {
  let calls: ((verdict: Verdict<UserRecord>) => void)[];
  let application: ApplicationSockets;
  let source: EventSource;
  let client: Socket;
  let unprotected: number;
  let selects: boolean;
  let checks: OpenSocketChecks;

  beforeEach(() => {
    [calls, client, unprotected, selects] = [[], new Socket(), 0, true];
    const ask = (): Promise<Verdict<UserRecord>> => new Promise((resolve) => calls.push(resolve));
    const verifier = new SessionVerifier(new Lanes(ask, new Deadlines(), LIMITS));
    const sources = [fromHeader('x-auth-token'), fromCookie('sid')];
    const reader = new SessionReader({ sources, forwardAuthIv: false, maxTokenLength: 100 });
    source = new EventSource();
    const authorities = { arePerCall: true, partsOf: () => (selects ? application.own : undefined) };
    application = new ApplicationSockets({
      verifier,
      reader,
      authorities,
      ends: source,
      whileOpen: WHILE_OPEN,
    } as unknown as GuardParts);
    checks = new OpenSocketChecks(application, () => (unprotected += 1));
  });

  const total = (): number => application.count().watched + application.count().waiting;
  const check = (upgrade: unknown = UPGRADE): Promise<UserRecord | undefined> =>
    checks.check(client, upgrade, {});

  it('returns the user, and holds messages of the application until then', async () => {
    const result = check();
    client.send('during');
    expect([client.sent, total()]).toEqual([[], 1]);
    calls[0]?.(ANN);
    expect(await result).toEqual(ANN.user);
    client.send('after');
    expect([client.sent, client.closings, application.watchedOf(client)?.user]).toEqual([
      ['during', 'after'],
      [],
      ANN.user,
    ]);
    expect(handshakeOf(client).headers).toMatchObject(UPGRADE.headers);
    source.complete();
  });

  it.each<[Verdict<UserRecord>, number, string]>([
    [UNAUTHENTICATED, 4401, 'SESSION_REJECTED'],
    [FORBIDDEN, 4403, 'ACCESS_DENIED'],
    [unavailable('server_error'), 4503, 'SESSION_SERVICE_UNAVAILABLE'],
  ])('closes the socket, which gets no message, if its verdict is $kind', async (verdict, code, reason) => {
    const result = check();
    client.send('during');
    calls[0]?.(verdict);
    expect([await result, client.sent, client.closings]).toEqual([undefined, [], [[code, reason]]]);
    expect([application.watchedOf(client), total()]).toEqual([undefined, 0]);
  });

  it('returns no user if the socket closes meanwhile', async () => {
    const result = check();
    client.send('during');
    client.emit('close');
    calls[0]?.(ANN);
    expect([await result, client.sent, total()]).toEqual([undefined, [], 0]);
  });

  it('is made once for each socket', async () => {
    const results = [check(), check({ headers: {} })];
    calls[0]?.(ANN);
    expect(await Promise.all(results)).toEqual([ANN.user, ANN.user]);
    const again = check();
    expect([calls.length, total()]).toEqual([1, 1]);
    expect(await again).toEqual(ANN.user);
    source.complete();
  });

  it.each<[string, unknown, number, string]>([
    ['no token', { headers: {} }, 4401, 'SESSION_REQUIRED'],
    ['no headers', {}, 4401, 'SESSION_REQUIRED'],
    ['a malformed token', { headers: { 'x-auth-token': 'not a token' } }, 4401, 'SESSION_REJECTED'],
    [
      'a cookie of a page of another origin',
      received({ cookie: 'sid=a', origin: 'https://b.example', host: 'a.example' }),
      4403,
      'CROSS_ORIGIN_DENIED',
    ],
    [
      'a cookie, and that the application has built',
      { headers: { cookie: 'sid=a' } },
      4401,
      'SESSION_REQUIRED',
    ],
  ])('closes a socket whose request has %s, without a call', async (_which, upgrade, code, reason) => {
    expect(await check(upgrade)).toBeUndefined();
    expect([client.closings, calls, total()]).toEqual([[[code, reason]], [], 0]);
  });

  it('closes a socket without an authority, and does not read its token', async () => {
    selects = false;
    expect(await check()).toBeUndefined();
    expect([client.closings, calls, total()]).toEqual([[[4401, 'SESSION_REJECTED']], [], 0]);
  });

  describe('of socket.io that no protected server let in', () => {
    const socket = (connected: boolean) => {
      const calls: string[] = [];
      const note = (name: string) => () => void calls.push(name);
      const handshake = { headers: UPGRADE.headers };
      const client: SocketClient = {
        handshake,
        connected,
        emit: note('emit'),
        disconnect: note('disconnect'),
        once: note('once'),
      };
      return { client, calls };
    };

    it.each([
      [true, 1, ['emit', 'disconnect']],
      [false, 0, []],
    ])(
      'closes it without a call, and warns of it if it was open: %p',
      async (connected, warnings, expected) => {
        const stranger = socket(connected);
        const result = checks.check(stranger.client, UPGRADE, {});
        expect([stranger.calls, unprotected, calls, total()]).toEqual([expected, warnings, [], 0]);
        expect(await result).toBeUndefined();
      },
    );

    it('returns the user of one that was let in', async () => {
      const { client: admitted, calls: sent } = socket(true);
      const watched = application.watch({
        client: admitted,
        request: handshakeOf(admitted),
        options: {},
        deny: () => undefined,
      });
      const confirmed = watched?.confirm();
      calls[0]?.(ANN);
      await confirmed;
      if (watched) application.open(admitted, watched);
      const user = await checks.check(admitted, undefined, {});
      expect([user, sent, unprotected, calls.length]).toEqual([ANN.user, [], 0, 1]);
      source.complete();
    });
  });
});
