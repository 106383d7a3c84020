import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import type { UserRecord } from '../../contract/record/user-record.js';
import { unavailable, type Verdict } from '../../contract/outcome.js';
import { WatchedSocket } from './watched-socket.js';

const ACCEPTED = { kind: 'authenticated', user: { username: 'ann' } } as const;
const SESSION = { token: 'some-token', authIv: undefined };
const OUTAGE = unavailable('unreachable', 9);

/** An open socket of ws. */
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
  let overs: number;
  let socket: Socket;
  let watched: WatchedSocket;

  beforeEach(() => {
    jest.useFakeTimers();
    [verdict, checks, overs] = [ACCEPTED, 0, 0];
    socket = new Socket();
    const verify = (): Verdict<UserRecord> => {
      checks += 1;
      return verdict;
    };
    watched = new WatchedSocket(socket, SESSION, { verify, recheckMs: 1000, outageGraceMs: 5000, over: () => (overs += 1) });
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

  it('stays for outageGraceMs of an outage, from the check that found it, and no longer', async () => {
    await watched.start();
    verdict = OUTAGE;
    await jest.advanceTimersByTimeAsync(1000);
    expect(checks).toBe(2);
    await jest.advanceTimersByTimeAsync(4999 - 100);
    expect([socket.closings, watched.user]).toEqual([[], ACCEPTED.user]);
    await jest.advanceTimersByTimeAsync(101);
    expect([socket.closings, watched.user, overs]).toEqual([[[4503, 'SESSION_SERVICE_UNAVAILABLE']], undefined, 1]);
  });

  it('has a whole grace again after an outage that ended', async () => {
    await watched.start();
    for (let outage = 0; outage < 3; outage += 1) {
      verdict = OUTAGE;
      await jest.advanceTimersByTimeAsync(4000);
      verdict = ACCEPTED;
      await jest.advanceTimersByTimeAsync(1000);
    }
    expect(socket.closings).toEqual([]);
  });

  it('does not come in during an outage, but does with a session that is answered from memory', async () => {
    verdict = OUTAGE;
    expect(await watched.start()).toBeUndefined();
    expect(socket.closings).toEqual([[4503, 'SESSION_SERVICE_UNAVAILABLE']]);
    verdict = { ...ACCEPTED, stale: true };
    const other = new WatchedSocket(new Socket(), SESSION, {
      verify: () => verdict,
      recheckMs: 1,
      outageGraceMs: 1,
      over: () => undefined,
    });
    expect(await other.start()).toBe(ACCEPTED.user);
  });

  it.each([
    ['unauthenticated', 4401, 'SESSION_REJECTED'],
    ['forbidden', 4403, 'ACCESS_DENIED'],
  ] as const)('is ended by a check that is %s, and then let alone', async (kind, code, reason) => {
    await watched.start();
    verdict = { kind };
    await jest.advanceTimersByTimeAsync(10_000);
    expect([socket.closings, checks, overs, jest.getTimerCount()]).toEqual([[[code, reason]], 2, 1, 0]);
  });

  it('is let alone once it is closed', async () => {
    await watched.start();
    socket.emit('close');
    await jest.advanceTimersByTimeAsync(10_000);
    expect([socket.closings, watched.user, checks, overs, jest.getTimerCount()]).toEqual([[], undefined, 1, 1, 0]);
  });

  it('is not checked at all when it was closed before', async () => {
    socket.readyState = 3;
    expect(await watched.start()).toBeUndefined();
    expect([checks, overs]).toEqual([0, 1]);
  });

  it('lets the process exit', async () => {
    jest.useRealTimers();
    const timeout = jest.spyOn(globalThis, 'setTimeout');
    await watched.start();
    const timer = timeout.mock.results[0]?.value as NodeJS.Timeout;
    timeout.mockRestore();
    expect(timer.hasRef()).toBe(false);
    watched.stop();
  });
});
