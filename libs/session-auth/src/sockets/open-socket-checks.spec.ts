import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { partsWith, receivedRequest } from '../../../../test/support/session-parts.js';
import { unavailable, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { handshakeOf, type SocketClient } from '../kinds/socket-client.js';
import type { EventSource } from '../module/events/event-source.js';
import { checkOpenSocket } from './open-socket-checks.js';
import { WatchedSockets } from './watched-sockets.js';

const ANN = { kind: 'authenticated', user: { username: 'ann' } } as const;
const UPGRADE = receivedRequest({ 'x-auth-token': 'token' });

/** An open socket of ws. */
class Socket extends EventEmitter {
  readyState = 1;
  readonly closings: unknown[] = [];
  close(code: number, reason: string): void {
    this.closings.push([code, reason]);
  }
}

describe('the check of an open socket', () => {
  let calls: ((verdict: Verdict<UserRecord>) => void)[];
  let application: WatchedSockets;
  let source: EventSource;
  let client: Socket;
  let unprotected: number;

  beforeEach(() => {
    [calls, client, unprotected] = [[], new Socket(), 0];
    const ask = (): Promise<Verdict<UserRecord>> => new Promise((resolve) => calls.push(resolve));
    const causes = { occurred: () => (unprotected += 1) };
    const parts = partsWith(ask, { causes } as object);
    source = parts.ends;
    application = new WatchedSockets(parts);
  });

  const total = (): number => application.count().watched + application.count().waiting;
  const check = (upgrade: unknown = UPGRADE): Promise<UserRecord | undefined> =>
    checkOpenSocket(application, client, upgrade, {});

  it('returns the user', async () => {
    const result = check();
    expect(total()).toBe(1);
    calls[0]?.(ANN);
    expect(await result).toEqual(ANN.user);
    expect([client.closings, application.watchedOf(client)?.user]).toEqual([[], ANN.user]);
    expect(handshakeOf(client).headers).toMatchObject(UPGRADE.headers);
    source.complete();
  });

  it('closes the socket if its verdict is a denial', async () => {
    const result = check();
    calls[0]?.(unavailable('server_error'));
    const closing = [4503, 'SESSION_SERVICE_UNAVAILABLE'];
    expect([await result, client.closings]).toEqual([undefined, [closing]]);
    expect([application.watchedOf(client), total()]).toEqual([undefined, 0]);
  });

  it('returns no user if the socket closes meanwhile', async () => {
    const result = check();
    client.emit('close');
    calls[0]?.(ANN);
    expect([await result, total()]).toEqual([undefined, 0]);
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

  it('closes a socket whose request has no token, without a call', async () => {
    expect(await check({ headers: {} })).toBeUndefined();
    expect([client.closings, calls, total()]).toEqual([[[4401, 'SESSION_REQUIRED']], [], 0]);
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
        const result = checkOpenSocket(application, stranger.client, UPGRADE, {});
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
      const user = await checkOpenSocket(application, admitted, undefined, {});
      expect([user, sent, unprotected, calls.length]).toEqual([ANN.user, [], 0, 1]);
      source.complete();
    });
  });
});
