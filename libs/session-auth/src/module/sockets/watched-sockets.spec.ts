import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Deadlines } from '../../client/deadline.js';
import { UNAUTHENTICATED, unavailable, type Verdict } from '../../contract/outcome.js';
import type { UserRecord } from '../../contract/record/user-record.js';
import type { GuardParts } from '../../guard/guard-parts.js';
import { ProtectedCheck } from '../../verifier/lanes/protected-check.js';
import { SessionVerifier } from '../../verifier/session-verifier.js';
import { EventSource } from '../events/event-source.js';
import { SessionAuthEvents } from '../events/session-auth-events.js';
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
  const verifier = new SessionVerifier(new ProtectedCheck(ask, new Deadlines(), LIMITS));
  const events = new SessionAuthEvents(new EventSource(), () => undefined);
  return { service, verifier, events, sockets: new WatchedSockets({ verifier } as GuardParts, events) };
}

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
afterEach(() => void jest.useRealTimers());

describe('the watched sockets', () => {
  it('have a socket from its addition on, by its client and by the fingerprint of its session', () => {
    const { sockets, events } = watching();
    const client = new Socket();
    const socket = sockets.add(client, SESSION, SETTINGS);
    const fingerprint = events.fingerprintOf('token');
    expect([sockets.of(client), sockets.ownerOf(client), sockets.index.countOf(fingerprint)]).toEqual([socket, fingerprint, 1]);
    expect([sockets.of(new Socket()), sockets.ownerOf(new Socket()), sockets.index.size]).toEqual([undefined, undefined, 1]);
  });

  it('have a socket no longer once it has closed', async () => {
    const { sockets } = watching();
    const [client, other] = [new Socket(), new Socket()];
    await sockets.add(client, SESSION, SETTINGS).start();
    const kept = sockets.add(other, SESSION, SETTINGS);
    client.emit('close');
    expect([sockets.of(client), sockets.ownerOf(client), sockets.index.all()]).toEqual([undefined, undefined, [kept]]);
  });

  it('are checked by the verifier of their registration, at first and again', async () => {
    const { sockets, service } = watching();
    const client = new Socket();
    expect(await sockets.add(client, SESSION, SETTINGS).start()).toEqual({ username: 'ann' });
    service.answer = UNAUTHENTICATED;
    await jest.advanceTimersByTimeAsync(899);
    expect([service.tokens, client.closings]).toEqual([['token'], []]);
    await jest.advanceTimersByTimeAsync(101);
    expect([service.tokens, client.closings, sockets.of(client), sockets.index.size]).toEqual([['token', 'token'], [4401], undefined, 0]);
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
