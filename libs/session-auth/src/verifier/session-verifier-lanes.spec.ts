import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Deadlines } from '../client/deadline.js';
import { unavailable, type UnavailableReason, type Verdict } from '../contract/outcome.js';
import type { LaneSettings } from './lanes.js';
import { type CallService, Lanes } from './lanes.js';
import { SessionVerifier } from './session-verifier.js';

const BREAKER = { windowMs: 10_000, minimumCalls: 20, failureRatio: 0.5, pauseMs: 5_000, maxPauseMs: 30_000 };
const SETTINGS = { timeoutMs: 3_000, maxAttempts: 1, maxInFlight: 128, maxQueued: 1_024, breaker: BREAKER };

/** Lets time pass, and everything that is due happen. */
const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

/** A verifier without a cache, and a session service on the same virtual clock. */
function scene(settings: Partial<LaneSettings> = {}) {
  const answer = (): Verdict<object> => ({ kind: 'authenticated', user: {} });
  const service = { answer, tookMs: 10, calls: 0, inFlight: 0 };
  const callService: CallService<object> = (_session, deadline) =>
    new Promise((resolve) => {
      service.calls += 1;
      service.inFlight += 1;
      const settle = (verdict: Verdict<object>): void => {
        clearTimeout(timer);
        service.inFlight -= 1;
        resolve(verdict);
      };
      const { answer } = service;
      const timer = setTimeout(() => settle(answer()), service.tookMs);
      deadline.onEnd((end) => settle(unavailable(end)));
    });
  const verifier = new SessionVerifier<object>(
    new Lanes(callService, new Deadlines(), { ...SETTINGS, ...settings }),
  );
  /** Checks a session. Its outcome, and the time that it takes, are known when it settles. */
  const check = (token: string, authIv?: string, maxAgeMs?: number) => {
    const [startMs, outcome] = [performance.now(), { is: 'pending', afterMs: NaN }];
    void Promise.resolve(verifier.verify({ token, authIv }, maxAgeMs)).then((verdict) => {
      outcome.is = verdict.kind === 'unavailable' ? verdict.reason : verdict.kind;
      outcome.afterMs = performance.now() - startMs;
    });
    return outcome;
  };
  /** Checks each session at once. Returns the count of each outcome. */
  const checkAll = async (sessions: readonly string[]): Promise<Record<string, number>> => {
    const outcomes = sessions.map((token) => check(token));
    await pass(service.tookMs);
    const counts: Record<string, number> = {};
    for (const { is } of outcomes) counts[is] = (counts[is] ?? 0) + 1;
    return counts;
  };
  return { service, check, checkAll };
}

const tokens = (user: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${user}-${index}`);

beforeEach(async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
  await pass(60_000);
});
afterEach(() => void jest.useRealTimers());

describe('the time limit of a check', () => {
  it.each([1, 60_000])(
    'of %d ms is kept to the millisecond, in flight, in the queue and behind other calls',
    async (timeoutMs) => {
      const { service, check } = scene({ timeoutMs, maxInFlight: 2, breaker: undefined });
      service.tookMs = 120_000;
      const fresh = () => check('a', undefined, 0);
      const outcomes = [check('a'), fresh(), fresh(), check('b'), check('c')];
      await pass(timeoutMs - 1);
      expect(new Set(outcomes.map(({ is }) => is))).toEqual(new Set(['pending']));
      await pass(1);
      // A place becomes free for those in the queue when they have no time left.
      const ends = ['timeout', 'timeout', 'timeout', 'busy', 'busy'];
      expect(outcomes).toEqual(ends.map((is) => ({ is, afterMs: timeoutMs })));
    },
  );
});

describe('more checks than the service can answer in time', () => {
  it('are refused at once, and none of the others waits until its time is over', async () => {
    const { service, check, checkAll } = scene({ maxInFlight: 2 });
    service.tookMs = 1_000;
    await checkAll(['first']);
    const outcomes = tokens('new', 20).map((token) => check(token));
    await pass(0);
    expect(outcomes.map(({ is }) => is)).toEqual([
      ...Array<string>(5).fill('pending'),
      ...Array<string>(15).fill('busy'),
    ]);
    await pass(3_000);
    const served = [1_000, 1_000, 2_000, 2_000].map((afterMs) => ({ is: 'authenticated', afterMs }));
    expect(outcomes.slice(0, 5)).toEqual([...served, { is: 'busy', afterMs: 2_000 }]);
  });

  it('make no call that could not end in time', async () => {
    const { service, check } = scene({ maxInFlight: 1 });
    service.tookMs = 2_800;
    const slow = check('slow');
    const waiting = check('waiting');
    service.tookMs = 10;
    await pass(2_800);
    expect([slow.is, waiting, service.calls]).toEqual(['authenticated', { is: 'busy', afterMs: 2_800 }, 1]);
  });

  it('are served in the order of their arrival', async () => {
    const { check } = scene({ maxInFlight: 1, maxQueued: 4 });
    const outcomes = tokens('new', 6).map((token) => check(token));
    await pass(1_000);
    expect(outcomes.map(({ afterMs }) => afterMs)).toEqual([10, 20, 30, 40, 50, 0]);
  });
});

describe('the breaker', () => {
  it.each<[UnavailableReason, 'circuit_open' | 'authenticated']>([
    ['unreachable', 'circuit_open'],
    ['timeout', 'authenticated'],
    ['server_error', 'circuit_open'],
    ['malformed', 'authenticated'],
  ])(
    'opens for failures of the service alone, and not for a timeout before its time: after %s, the next is %s',
    async (reason, next) => {
      const { service, checkAll } = scene();
      const { answer } = service;
      service.answer = () => unavailable(reason);
      for (let turn = 0; turn < 4; turn += 1) await checkAll(tokens('junk', 10));
      service.answer = answer;
      expect(await checkAll(['new'])).toEqual({ [next]: 1 });
    },
  );

  it('stays closed after calls on connections that the service had closed', async () => {
    const { service, checkAll } = scene();
    service.answer = () => ({ ...unavailable('unreachable'), staleConnection: true });
    expect(await checkAll(tokens('junk', 40))).toEqual({ unreachable: 40 });
    expect(await checkAll(['new'])).toEqual({ unreachable: 1 });
  });

  it('opens for calls that took their whole time', async () => {
    const { service, checkAll, check } = scene();
    service.tookMs = 120_000;
    const silent = tokens('junk', 25).map((token) => check(token));
    await pass(3_000);
    expect(new Set(silent.map(({ is }) => is))).toEqual(new Set(['timeout']));
    service.tookMs = 10;
    expect(await checkAll(['new'])).toEqual({ circuit_open: 1 });
  });
});

describe('one token with many IVs [P29]', () => {
  it('has eight calls at once also while one after the other ends', async () => {
    const { check } = scene();
    const first = check('mallory-0', 'odd-first');
    await pass(5);
    const second = check('mallory-0', 'odd-second');
    await pass(5);
    expect([first.is, second.is]).toEqual(['authenticated', 'pending']);
    const later = tokens('odd', 8).map((authIv) => check('mallory-0', authIv));
    await pass(0);
    expect(later.map(({ is }) => is)).toEqual([...Array<string>(7).fill('pending'), 'busy']);
  });
});
