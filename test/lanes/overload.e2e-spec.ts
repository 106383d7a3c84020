import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { startSessionService } from 'nestjs-session-auth/testing';
import { sessionKeysOf, tokenKeyOf } from '../../libs/session-auth/src/contract/session-identity.js';
import { Deadlines } from '../../libs/session-auth/src/client/deadline.js';
import { UNAUTHENTICATED, unavailable } from '../../libs/session-auth/src/contract/outcome.js';
import { type CallService, Lanes } from '../../libs/session-auth/src/verifier/lanes.js';
import { SeededRandom } from '../support/seeded-random.js';
import { inLongForm } from '../support/long-form.js';
import { platforms } from '../support/platforms.js';
import { startProbedApp } from '../support/trial/probed-app.js';
import { ANN } from '../support/trial/trial.js';
import { Flood, servedPart, type Kind } from './flood.js';
import { boundedService, unboundedService, type ServiceModel } from './service-models.js';
import { VirtualClock } from './virtual-clock.js';

/**
 * The time of the simulation grows with the number of requests: a service with more capacity is flooded for a
 * shorter time.
 */
const LONG_FLOOD_MS = inLongForm('24 of 30 s of a simulated flood, or 27') ? 30_000 : 6_000;
const SHORT_FLOOD_MS = LONG_FLOOD_MS === 30_000 ? LONG_FLOOD_MS : 3_000;

/** Simulates a flood of junk in virtual time: the same figures on every machine. */
describe.each<[string, (clock: VirtualClock) => ServiceModel, number]>([
  ['answers any number of requests in 450 ms', (clock) => unboundedService(clock, 450, 128), LONG_FLOOD_MS],
  [
    'works on 16 requests of 450 ms at a time, and queues the others itself',
    (clock) => boundedService(clock, 450, 16),
    LONG_FLOOD_MS,
  ],
  [
    'works on 16 requests of 20 ms at a time, and queues the others itself',
    (clock) => boundedService(clock, 20, 16),
    SHORT_FLOOD_MS,
  ],
])('a service that %s', (_name, serviceOn, floodMs) => {
  let clock: VirtualClock;

  beforeEach(() => {
    clock = new VirtualClock().install();
  });
  afterEach(() => void jest.restoreAllMocks());

  async function floodOf(times: number): Promise<Record<Kind, number>> {
    const flood = new Flood(clock, serviceOn(clock));
    await flood.run(times, floodMs);
    const { known, new: unknown, junk } = flood.outcomes;
    return { known: servedPart(known), new: servedPart(unknown), junk: servedPart(junk) };
  }

  const sentence = 'serves known users under %d times the junk that it can answer, and new users as the junk';
  it.each([1.5, 3, 10])(sentence, servesUnder);

  async function servesUnder(times: number): Promise<void> {
    const served = await floodOf(times);

    expect(served.known).toBeGreaterThanOrEqual(0.99);
    const left = 0.8 / (times + 0.05);
    expect(served.new).toBeGreaterThan(left * 0.6);
    expect(served.junk).toBeGreaterThan(left * 0.6);
  }
});

const SETTINGS = { timeoutMs: 3_000, maxAttempts: 2, maxInFlight: 128, maxQueued: 1_024 };

/** A service that accepts in 450 ms, refuses junk in 2 ms, and is far from its limits. */
describe('a service that has time', () => {
  let clock: VirtualClock;
  let check: Lanes<string>;
  let denied: number;
  let random: SeededRandom;

  beforeEach(() => {
    clock = new VirtualClock().install();
    const callService: CallService<string> = ({ token }, deadline) =>
      new Promise((settle) => {
        deadline.onEnd((end) => settle(unavailable(end)));
        const isJunk = token.startsWith('junk');
        clock.after(isJunk ? 2 : 450, () =>
          settle(isJunk ? UNAUTHENTICATED : { kind: 'authenticated', user: token }),
        );
      });
    check = new Lanes(callService, new Deadlines(), SETTINGS);
    denied = 0;
    random = new SeededRandom(7);
  });
  afterEach(() => void jest.restoreAllMocks());

  async function come(token: string): Promise<void> {
    const session = { token, authIv: undefined };
    const keys = sessionKeysOf(session);
    const verdict = await check.call(session, keys);
    check.known.update(keys, verdict);
    if (verdict.kind === 'unavailable') denied += 1;
  }

  /** Schedules a number of tokens at random times until then. */
  function arrive(count: number, untilMs: number, tokenOf: (turn: number) => string): void {
    for (let turn = 0; turn < count; turn += 1)
      clock.after(random.next() * untilMs, () => void come(tokenOf(turn)));
  }

  it.each([5, 20])(
    'serves every new user beside known ones and %i tokens a second that it refuses at once',
    async (junk) => {
      for (let user = 0; user < 100; user += 1) check.known.add(tokenKeyOf(`known-${user}`));
      arrive(600, 30_000, (turn) => `known-${turn % 100}`);
      arrive(2_400, 30_000, (turn) => `new-${turn}`);
      arrive(junk * 30, 30_000, (turn) => `junk-${turn}`);
      await clock.runUntil(40_000);
      expect(denied).toBe(0);
    },
  );

  it('serves 500 users who arrive within two seconds of the start, and each again a second after the answer', async () => {
    const again = async (token: string): Promise<void> => {
      await come(token);
      if (clock.nowMs < 6_000) clock.after(500 + random.next() * 1_000, () => void again(token));
    };
    for (let user = 0; user < 500; user += 1)
      clock.after(random.next() * 2_000, () => void again(`user-${user}`));
    await clock.runUntil(12_000);
    expect(denied).toBe(0);
  });
});

const MIB = 1024 * 1024;

/**
 * The short form floods a cache of fewer places, in which nothing expires meanwhile: entries beyond its bound
 * would take more than the limit.
 */
const FORM = inLongForm('90,000 of 100,000 junk tokens')
  ? { tokens: 100_000, maxGrowthBytes: 32 * MIB, cache: {} }
  : { tokens: 10_000, maxGrowthBytes: MIB, cache: { maxEntries: 500, negativeTtlMs: 300_000 } };

describe.each(platforms('Fastify').map(([name]) => [name] as const))('a flood on %s', (name) => {
  it('a flood of unknown tokens is refused within 32 MiB of heap, and evicts no signed-in user [G06]', async () => {
    const service = await startSessionService();
    const app = await startProbedApp(name, service.url, {
      timeoutMs: 60_000,
      cache: { ttlMs: 300_000, ...FORM.cache },
    });
    try {
      const me = async (): Promise<number> =>
        (await fetch(`${app.url}/me`, { headers: { 'x-auth-token': token } })).status;
      const token = service.signInAs(ANN);
      expect(await me()).toBe(200);
      await app.flood(1_000);
      service.requests.length = 0;
      const before = (await app.memory()).heapBytes;

      expect(await app.flood(FORM.tokens)).toEqual({ SESSION_REJECTED: FORM.tokens });
      expect((await app.memory()).heapBytes - before).toBeLessThan(FORM.maxGrowthBytes);
      const asked = service.requests.length;
      expect([await me(), service.requests.length - asked]).toEqual([200, 0]);
    } finally {
      await app.close();
      await service.close();
    }
  });
});
