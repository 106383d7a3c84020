import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Deadlines } from '../client/deadline.js';
import { UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { Lanes } from '../verifier/lanes.js';
import { tokenKeyOf } from '../contract/session-identity.js';
import { SessionVerifier } from '../verifier/session-verifier.js';
import { EventSource, sessionEnds } from '../module/events/event-source.js';
import { WatchedSockets } from './watched-sockets.js';

const ANN: Verdict<UserRecord> = { kind: 'authenticated', user: { username: 'ann' } };
const SESSION = { token: 'token', authIv: undefined };
const SETTINGS = { recheckMs: 1000, outageGraceMs: 5000 };
const LIMITS = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 10, maxQueued: 10 };

/** An open socket of ws. */
class Socket extends EventEmitter {
  readyState = 1;
  readonly closings: unknown[] = [];
  close(code: number): void {
    this.closings.push(code);
  }
}

/** The watched sockets of a registration whose service answers with the verdict that the test sets. */
function watching() {
  const service = { answer: ANN, tokens: [] as string[], onAsk: (): unknown => undefined };
  const ask = async ({ token }: { token: string }): Promise<Verdict<UserRecord>> => {
    service.tokens.push(token);
    await service.onAsk();
    return service.answer;
  };
  const verifier = new SessionVerifier(new Lanes(ask, new Deadlines(), LIMITS));
  const ends = sessionEnds(new EventSource(), verifier);
  return { service, verifier, ends, sockets: new WatchedSockets({ verifier, ends }) };
}

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
afterEach(() => void jest.useRealTimers());

describe('the watched sockets', () => {
  it('have a socket from its addition on, by its client and by the fingerprint of its session', () => {
    const { sockets, ends } = watching();
    const client = new Socket();
    const socket = sockets.add(client, SESSION, SETTINGS);
    const fingerprint = ends.fingerprintOf(tokenKeyOf('token'));
    expect([sockets.of(client), sockets.ownerOf(client), sockets.index.countOf(fingerprint)]).toEqual([
      socket,
      fingerprint,
      1,
    ]);
    expect([sockets.of(new Socket()), sockets.ownerOf(new Socket()), sockets.index.size]).toEqual([
      undefined,
      undefined,
      1,
    ]);
  });

  it('have a socket no longer once it has closed', async () => {
    const { sockets } = watching();
    const [client, other] = [new Socket(), new Socket()];
    await sockets.add(client, SESSION, SETTINGS).start();
    const kept = sockets.add(other, SESSION, SETTINGS);
    client.emit('close');
    expect([sockets.of(client), sockets.ownerOf(client), sockets.index.all()]).toEqual([
      undefined,
      undefined,
      [kept],
    ]);
  });

  it('are checked by the verifier of their registration, at first and again', async () => {
    const { sockets, service } = watching();
    const client = new Socket();
    expect(await sockets.add(client, SESSION, SETTINGS).start()).toEqual({ username: 'ann' });
    service.answer = UNAUTHENTICATED;
    await jest.advanceTimersByTimeAsync(899);
    expect([service.tokens, client.closings]).toEqual([['token'], []]);
    await jest.advanceTimersByTimeAsync(101);
    expect([service.tokens, client.closings, sockets.of(client), sockets.index.size]).toEqual([
      ['token', 'token'],
      [4401],
      undefined,
      0,
    ]);
  });

  it('stay open during an outage for its grace', async () => {
    const { sockets, service } = watching();
    const client = new Socket();
    await sockets.add(client, SESSION, SETTINGS).start();
    service.answer = unavailable('server_error');
    await jest.advanceTimersByTimeAsync(5000);
    expect([client.closings, sockets.index.size]).toEqual([[], 1]);
    await jest.advanceTimersByTimeAsync(1000);
    expect([client.closings, sockets.index.size]).toEqual([[4503], 0]);
  });

  it('of one session share one recheck, also those that open later and those whose first check is pending [P30]', async () => {
    const { sockets, service } = watching();
    const open = Array.from({ length: 299 }, () => new Socket());
    for (const client of open) {
      await jest.advanceTimersByTimeAsync(1);
      await sockets.add(client, SESSION, { ...SETTINGS, recheckMs: 2000 }).start();
    }
    const other = new Socket();
    await sockets.add(other, { ...SESSION, authIv: 'iv' }, { ...SETTINGS, recheckMs: 2000 }).start();
    service.tokens.length = 0;
    await jest.advanceTimersByTimeAsync(20_000);
    // Two sessions, every 1800 to 2000 ms.
    expect(service.tokens.length).toBeGreaterThanOrEqual(2 * 10);
    expect(service.tokens.length).toBeLessThanOrEqual(2 * 12);
    service.answer = UNAUTHENTICATED;
    await jest.advanceTimersByTimeAsync(2000);
    expect(open.every(({ closings }) => closings[0] === 4401)).toBe(true);
    expect([sockets.index.size, jest.getTimerCount()]).toEqual([0, 0]);
  });

  it('of one session are checked again after the first of them has closed', async () => {
    const { sockets, service } = watching();
    const [first, second] = [new Socket(), new Socket()];
    for (const client of [first, second]) await sockets.add(client, SESSION, SETTINGS).start();
    first.emit('close');
    service.answer = UNAUTHENTICATED;
    await jest.advanceTimersByTimeAsync(1000);
    expect([first.closings, second.closings]).toEqual([[], [4401]]);
  });

  it('repeat a check during which the sessions of the user were revoked', async () => {
    const { sockets, service, verifier } = watching();
    const client = new Socket();
    service.onAsk = async () => {
      service.onAsk = () => undefined;
      await verifier.revoker.apply({ kind: 'userRevoked', username: 'ann' });
      await jest.advanceTimersByTimeAsync(1);
    };
    expect(await sockets.add(client, SESSION, SETTINGS).start()).toEqual({ username: 'ann' });
    expect(service.tokens).toHaveLength(2);
  });
});
