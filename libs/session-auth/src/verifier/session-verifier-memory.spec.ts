import { Session } from 'node:inspector/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Deadlines } from '../client/deadline.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import { KnownSessions } from './known-sessions.js';
import { Lanes } from './lanes.js';
import { SessionCache } from './session-cache.js';
import { SessionVerifier } from './session-verifier.js';

const SESSIONS = 10_000;
/** A session that stays in the table of flights has 200. The rest is for what else a process keeps. */
const BYTES_OF_SESSION = 100;

const answers: readonly ((username: string) => Verdict<object>)[] = [
  (username) => ({ kind: 'authenticated', user: { username } }),
  () => UNAUTHENTICATED,
  () => FORBIDDEN,
  () => unavailable('server_error'),
  () => {
    throw new Error('of the application');
  },
];

const inspector = new Session();
beforeAll(() => inspector.connect());
afterAll(() => inspector.disconnect());

async function usedBytes(): Promise<number> {
  await inspector.post('HeapProfiler.collectGarbage');
  return process.memoryUsage().heapUsed;
}

it('A verifier keeps nothing of sessions beyond its tables, whatever the service answers', async () => {
  let calls = 0;
  const callService = async ({ token }: { readonly token: string }): Promise<Verdict<object>> => {
    await Promise.resolve();
    return answers[(calls += 1) % answers.length]?.(token) ?? UNAUTHENTICATED;
  };
  const limits = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 100, maxQueued: 100 };
  const lives = { ttlMs: 60_000, negativeTtlMs: 60_000, refreshAheadMs: 0, staleIfErrorMs: 0 };
  const lanes = new Lanes(callService, new Deadlines(), limits, { known: new KnownSessions(100) });
  const verifier = new SessionVerifier(lanes, { cache: new SessionCache({ ...lives, maxEntries: 100 }) });
  const checkAll = async (first: number): Promise<void> => {
    for (let index = first; index < first + SESSIONS; index += 1)
      await verifier.verify({ token: `token-${index}`, authIv: index % 2 ? 'iv' : undefined });
  };
  await checkAll(0);
  const before = await usedBytes();
  await checkAll(SESSIONS);
  expect((await usedBytes()) - before).toBeLessThan(SESSIONS * BYTES_OF_SESSION);
  expect(calls).toBe(2 * SESSIONS);
}, 60_000);
