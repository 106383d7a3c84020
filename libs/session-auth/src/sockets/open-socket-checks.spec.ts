import { beforeEach, describe, expect, it } from '@jest/globals';
import { receivedRequest } from '../../../../test/support/session-parts.js';
import { ANN, WaitingSockets, WsSocket } from '../../../../test/support/waiting-sockets.js';
import { unavailable } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { handshakeOf, type SocketClient } from '../kinds/socket-client.js';
import { checkOpenSocket } from './open-socket-checks.js';

const UPGRADE = receivedRequest({ 'x-auth-token': 'token' });

describe('the check of an open socket', () => {
  let unprotected: number;
  let client: WsSocket;
  const bed = new WaitingSockets({ causes: { occurred: () => (unprotected += 1) } } as object);

  beforeEach(() => {
    [client, unprotected] = [new WsSocket(), 0];
  });

  const check = (
    upgrade: unknown = UPGRADE,
    socket: SocketClient = client,
  ): Promise<UserRecord | undefined> => checkOpenSocket(bed.application, socket, upgrade, {});

  it('returns the user', async () => {
    const result = check();
    expect(bed.counts()).toEqual([0, 1]);
    await bed.answer();
    expect(await result).toEqual(ANN.user);
    expect([client.closings, bed.application.watchedOf(client)?.user]).toEqual([[], ANN.user]);
    expect(handshakeOf(client).headers).toMatchObject(UPGRADE.headers);
  });

  it('closes the socket if its verdict is a denial', async () => {
    const result = check();
    await bed.answer(unavailable('server_error'));
    expect([await result, client.closings]).toEqual([undefined, [[4503, 'SESSION_SERVICE_UNAVAILABLE']]]);
    expect([bed.application.watchedOf(client), bed.counts()]).toEqual([undefined, [0, 0]]);
  });

  it('returns no user if the socket closes meanwhile', async () => {
    const result = check();
    client.emit('close');
    await bed.answer();
    expect([await result, bed.counts()]).toEqual([undefined, [0, 0]]);
  });

  it('is made once for each socket', async () => {
    const results = [check(), check({ headers: {} })];
    await bed.answer();
    expect(await Promise.all([...results, check()])).toEqual(Array(3).fill(ANN.user));
    expect([bed.calls.length, bed.counts()]).toEqual([1, [1, 0]]);
  });

  it('closes a socket whose request has no token, without a call', async () => {
    expect(await check({ headers: {} })).toBeUndefined();
    expect([client.closings, bed.calls, bed.counts()]).toEqual([[[4401, 'SESSION_REQUIRED']], [], [0, 0]]);
  });

  describe('of socket.io that no protected server let in', () => {
    const socket = (connected: boolean) => {
      const calls: string[] = [];
      const note = (name: string) => () => void calls.push(name);
      const methods = { emit: note('emit'), disconnect: note('disconnect'), once: note('once') };
      return { client: { handshake: { headers: UPGRADE.headers }, connected, ...methods }, calls };
    };

    it.each([
      [true, 1, ['emit', 'disconnect']],
      [false, 0, []],
    ])('closes it without a call, and warns of it if it was open: %p', async (connected, warnings, sent) => {
      const stranger = socket(connected);
      expect(await check(UPGRADE, stranger.client)).toBeUndefined();
      expect([stranger.calls, unprotected, bed.calls, bed.counts()]).toEqual([sent, warnings, [], [0, 0]]);
    });

    it('returns the user of one that was let in', async () => {
      const { client: admitted, calls: sent } = socket(true);
      const request = handshakeOf(admitted);
      const watched = bed.application.watch({
        client: admitted,
        request,
        options: {},
        deny: () => undefined,
      });
      void watched?.confirm();
      await bed.answer();
      if (watched) bed.application.open(admitted, watched);
      expect(await check(undefined, admitted)).toEqual(ANN.user);
      expect([sent, unprotected, bed.calls.length]).toEqual([[], 0, 1]);
    });
  });
});
