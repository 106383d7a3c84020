import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { SESSION_REJECTED } from '../contract/denials.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { unavailable, type Verdict } from '../contract/outcome.js';
import { SessionRechecks, WatchedSocket } from './watched-socket.js';

const AUTHENTICATED = { kind: 'authenticated', user: { username: 'ann' } } as const;
const SESSION = { token: 'some-token', authIv: undefined };
const OUTAGE = unavailable('unreachable', 9);

/** An open ws socket. */
class Socket extends EventEmitter {
  readyState = 1;
  readonly closings: unknown[] = [];
  close(code: number, reason: string): void {
    this.closings.push([code, reason]);
  }
}

describe('a watched socket', () => {
  let verdict: Verdict<UserRecord>;
  let checks: number;
  let ends: number;
  let socket: Socket;
  let watched: WatchedSocket;

  const verify = (): Verdict<UserRecord> => {
    checks += 1;
    return verdict;
  };

  /** Watches a socket of its own session. */
  function watch(
    client: Socket,
    { recheckMs = 1000, outageGraceMs = 5000, over = (): unknown => undefined } = {},
  ): WatchedSocket {
    const rechecks = new SessionRechecks(SESSION, { verify, recheckMs });
    const own: WatchedSocket = new WatchedSocket(client, rechecks, {
      outageGraceMs,
      over: () => (over(), void rechecks.remove(own)),
    });
    return own;
  }

  beforeEach(() => {
    jest.useFakeTimers();
    [verdict, checks, ends] = [AUTHENTICATED, 0, 0];
    socket = new Socket();
    watched = watch(socket, { over: () => (ends += 1) });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is checked again within recheckMs, a tenth early at most', async () => {
    await watched.start();
    await jest.advanceTimersByTimeAsync(899);
    expect(checks).toBe(1);
    await jest.advanceTimersByTimeAsync(101);
    expect(checks).toBe(2);
  });

  it('stays open for outageGraceMs from the first failed check of an outage', async () => {
    await watched.start();
    verdict = OUTAGE;
    await jest.advanceTimersByTimeAsync(1000);
    expect(checks).toBe(2);
    await jest.advanceTimersByTimeAsync(4999 - 100);
    expect([socket.closings, watched.user]).toEqual([[], AUTHENTICATED.user]);
    await jest.advanceTimersByTimeAsync(101);
    expect([socket.closings, watched.user, ends]).toEqual([
      [[4503, 'SESSION_SERVICE_UNAVAILABLE']],
      undefined,
      1,
    ]);
  });

  it('has the full grace period again after an outage has ended', async () => {
    await watched.start();
    for (let outage = 0; outage < 3; outage += 1) {
      verdict = OUTAGE;
      await jest.advanceTimersByTimeAsync(4000);
      verdict = AUTHENTICATED;
      await jest.advanceTimersByTimeAsync(1000);
    }
    expect(socket.closings).toEqual([]);
  });

  it('is closed at the first failed check without a grace period', async () => {
    const strict = watch(socket, { outageGraceMs: 0 });
    await strict.start();
    verdict = OUTAGE;
    await jest.advanceTimersByTimeAsync(1000);
    expect([socket.closings, strict.user, checks]).toEqual([
      [[4503, 'SESSION_SERVICE_UNAVAILABLE']],
      undefined,
      2,
    ]);
  });

  it('has no more than the grace period while only stale entries authenticate it', async () => {
    await watched.start();
    verdict = { ...AUTHENTICATED, stale: true };
    await jest.advanceTimersByTimeAsync(1000);
    expect(checks).toBe(2);
    await jest.advanceTimersByTimeAsync(4999 - 100);
    expect([socket.closings, watched.user]).toEqual([[], AUTHENTICATED.user]);
    await jest.advanceTimersByTimeAsync(101);
    expect([socket.closings, watched.user, ends]).toEqual([
      [[4503, 'SESSION_SERVICE_UNAVAILABLE']],
      undefined,
      1,
    ]);
  });

  it('is closed at its first check during an outage, unless a stale entry authenticates it', async () => {
    verdict = OUTAGE;
    expect(await watched.start()).toBeUndefined();
    expect(socket.closings).toEqual([[4503, 'SESSION_SERVICE_UNAVAILABLE']]);
    verdict = { ...AUTHENTICATED, stale: true };
    const other = watch(new Socket(), { recheckMs: 1, outageGraceMs: 1 });
    expect(await other.start()).toBe(AUTHENTICATED.user);
  });

  it.each([
    ['unauthenticated', 4401, 'SESSION_REJECTED'],
    ['forbidden', 4403, 'ACCESS_DENIED'],
  ] as const)('is closed by a check that is %s, and is not checked again', async (kind, code, reason) => {
    await watched.start();
    verdict = { kind };
    await jest.advanceTimersByTimeAsync(10_000);
    expect([socket.closings, checks, ends, jest.getTimerCount()]).toEqual([[[code, reason]], 2, 1, 0]);
  });

  it('is not checked again once it is closed', async () => {
    await watched.start();
    socket.emit('close');
    await jest.advanceTimersByTimeAsync(10_000);
    expect([socket.closings, watched.user, checks, ends, jest.getTimerCount()]).toEqual([
      [],
      undefined,
      1,
      1,
      0,
    ]);
  });

  it('has no user, and is not checked again, if it closes during a check', async () => {
    const start = watched.start();
    socket.emit('close');
    expect(await start).toBeUndefined();
    await jest.advanceTimersByTimeAsync(10_000);
    expect([watched.user, checks, ends, jest.getTimerCount()]).toEqual([undefined, 1, 1, 0]);
  });

  it('is closed at most once, and not after watching has ended', async () => {
    await watched.start();
    watched.stop();
    watched.stop();
    watched.end(SESSION_REJECTED);
    expect([socket.closings, ends]).toEqual([[], 1]);

    const other = watch(socket, { recheckMs: 1, outageGraceMs: 1, over: () => (ends += 1) });
    other.end(SESSION_REJECTED);
    other.end(SESSION_REJECTED);
    expect([socket.closings, ends]).toEqual([[[4401, 'SESSION_REJECTED']], 2]);
  });

  it('has the user of its handshake, whose verdict is the first check', async () => {
    watched.admit(AUTHENTICATED);
    watched.opened();
    expect([await watched.start(), watched.user, checks]).toEqual([
      AUTHENTICATED.user,
      AUTHENTICATED.user,
      0,
    ]);
    await jest.advanceTimersByTimeAsync(1000);
    expect(checks).toBe(1);
    socket.emit('close');
    expect([watched.user, ends]).toEqual([undefined, 1]);
  });

  it('is not checked if it was closed before', async () => {
    socket.readyState = 3;
    expect(await watched.start()).toBeUndefined();
    expect([checks, ends]).toEqual([0, 1]);
  });

  it('does not keep the process alive', async () => {
    jest.useRealTimers();
    const timeout = jest.spyOn(globalThis, 'setTimeout');
    await watched.start();
    const timer = timeout.mock.results[0]?.value as NodeJS.Timeout;
    timeout.mockRestore();
    expect(timer.hasRef()).toBe(false);
    watched.stop();
  });
});
