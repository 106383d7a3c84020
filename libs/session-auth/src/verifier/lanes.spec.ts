import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { sessionKeysOf } from '../contract/session-identity.js';
import type { LaneName } from '../contract/diagnostics.js';
import { type Deadline, Deadlines } from '../client/deadline.js';
import { UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { BreakerState } from './circuit-breaker.js';
import { type CallService, Lanes, type LaneSettings } from './lanes.js';

const settings = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 128, maxQueued: 1_024 };
const breaker = { windowMs: 10_000, minimumCalls: 20, failureRatio: 0.5, pauseMs: 1_000, maxPauseMs: 30_000 };
const down = unavailable('server_error');

/** Lanes whose service gives one verdict to all calls, until the test says another. */
function trial(set: LaneSettings = { ...settings, breaker }) {
  const changes: [LaneName, BreakerState][] = [];
  const service: { answer: Promise<Verdict<string>>; calls: number } = {
    answer: Promise.resolve(down),
    calls: 0,
  };
  const lanes = new Lanes(() => ((service.calls += 1), service.answer), new Deadlines(), set, {
    breakerChanged: (lane, state) => changes.push([lane, state]),
  });
  let tokens = 0;
  const check = (lane: LaneName): Promise<Verdict<string>> => {
    const session = { token: `token-${(tokens += 1)}`, authIv: undefined };
    return lanes.call(session, sessionKeysOf(session), 0, lane);
  };
  const fail = async (lane: LaneName, times: number, verdict: Verdict<string> = down): Promise<void> => {
    service.answer = Promise.resolve(verdict);
    for (let made = 0; made < times; made += 1) await check(lane);
  };
  return { service, changes, check, fail };
}

afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

describe('the lanes', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));

  it('limit strangers in flight from the first check of a known session on', async () => {
    const { service, check, fail } = trial();
    const startStrangers = async (times: number): Promise<number> => {
      service.answer = new Promise(() => undefined);
      for (let started = 0; started < times; started += 1) void check('strangers');
      await new Promise(setImmediate);
      return service.calls;
    };
    expect(await startStrangers(settings.maxInFlight - 1)).toBe(127);
    await fail('known', 1);
    expect(await startStrangers(1)).toBe(128);
  });

  it('open, are half open and close together when no stranger made a call', async () => {
    const { changes, fail } = trial();
    await fail('known', 25);
    jest.advanceTimersByTime(breaker.pauseMs);
    await fail('known', 1, UNAUTHENTICATED);
    const both = (states: BreakerState[]) =>
      states.flatMap((state) => [`known ${state}`, `strangers ${state}`]);
    expect(changes.map((change) => change.join(' ')).sort()).toEqual(
      both(['closed', 'halfOpen', 'open']).sort(),
    );
  });

  it('leave the breaker of strangers to its own probe if calls of strangers failed', async () => {
    const { changes, fail } = trial();
    await fail('strangers', 25);
    await fail('known', 25);
    jest.advanceTimersByTime(breaker.pauseMs);
    await fail('known', 1, UNAUTHENTICATED);
    expect(changes.slice(-1)).toEqual([['known', 'closed']]);
  });

  it('do not open the breaker of strangers again when the probe of a known session fails', async () => {
    const { changes, fail } = trial();
    await fail('known', 25);
    jest.advanceTimersByTime(breaker.pauseMs);
    await fail('strangers', 1, UNAUTHENTICATED);
    await fail('known', 1);
    expect(changes.slice(4)).toEqual([
      ['strangers', 'closed'],
      ['known', 'open'],
    ]);
  });

  it('have no breaker if it is off: failures neither open it, nor keep it open after a 429', async () => {
    const { service, check, fail } = trial(settings);
    await fail('known', 100);
    await fail('known', 2, unavailable('rate_limited', 1));
    expect([service.calls, await check('known')]).toEqual([102, unavailable('rate_limited', 1)]);
    jest.advanceTimersByTime(1_000);
    await fail('known', 2);
    expect(service.calls).toBe(104);
  });

  it('have separate retry budgets', async () => {
    const { service, check } = trial({ ...settings, maxAttempts: 2 });
    await Promise.all(Array.from({ length: 100 }, () => check('strangers')));
    expect(service.calls).toBe(110);
    await Promise.all(Array.from({ length: 10 }, () => check('known')));
    expect(service.calls).toBe(130);
  });
});

const SESSION = { token: 'token', authIv: undefined };
/** Opens at the first failure. */
const QUICK = { windowMs: 60_000, minimumCalls: 1, failureRatio: 1, pauseMs: 60_000, maxPauseMs: 60_000 };

/** A check whose service answers when the test says so. */
function checkWith(settings: Partial<LaneSettings> = {}) {
  const pending: ((verdict: Verdict<string>) => void)[] = [];
  const given: Deadline[] = [];
  const deadlines = new Deadlines();
  const waiting: CallService<string> = (_session, deadline) => {
    given.push(deadline);
    return new Promise((resolve) => pending.push(resolve));
  };
  const limits = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 1, maxQueued: 1, ...settings };
  const check = new Lanes(waiting, deadlines, limits);
  return {
    run: (spentMs?: number) => check.call(SESSION, sessionKeysOf(SESSION), spentMs),
    deadlines,
    given,
    calls: () => given.length,
    answer: (verdict: Verdict<string>) => pending.pop()?.(verdict),
  };
}

describe('a check', () => {
  it('leaves no timer running', async () => {
    const { run, answer, deadlines, given } = checkWith();
    const verdict = run();
    answer(UNAUTHENTICATED);
    expect(await verdict).toBe(UNAUTHENTICATED);
    void deadlines.close();
    expect(given.map(({ ended }) => ended)).toEqual([undefined]);
  });

  it.each([
    [55_000, 0],
    [50_000, 1],
  ])('after %d of its 60,000 ms makes %d calls, or else is busy', async (spentMs, made) => {
    const { run, answer, calls } = checkWith();
    const verdict = run(spentMs);
    answer(UNAUTHENTICATED);
    expect([await verdict, calls()]).toEqual([made ? UNAUTHENTICATED : unavailable('busy', 1), made]);
  });
});

describe('a check while the circuit is open', () => {
  it('is denied immediately, even while the check that opened it holds the place', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.99);
    const { run, answer, calls } = checkWith({ maxAttempts: 2, maxQueued: 0, breaker: QUICK });
    const failing = run();
    answer(down);
    await new Promise(setImmediate);
    expect(await run()).toMatchObject({ reason: 'circuit_open' });
    expect(await failing).toMatchObject({ reason: 'circuit_open' });
    expect(calls()).toBe(1);
  });

  it('does not wait for a place', async () => {
    const { run, answer, calls, deadlines } = checkWith({ maxInFlight: 2, maxQueued: 5, breaker: QUICK });
    void run();
    const failing = run();
    const queued = run();
    answer(down);
    expect(await failing).toEqual(down);
    expect(await queued).toMatchObject({ reason: 'circuit_open' });
    expect(calls()).toBe(2);
    void deadlines.close();
  });
});

describe('a check whose listener throws', () => {
  it('releases its place and its deadline, when the breaker opens and when it probes', async () => {
    jest.useFakeTimers();
    const states: string[] = [];
    const limits = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 1, maxQueued: 0 };
    const breakerChanged = (lane: string, state: string): void => {
      states.push(`${lane} ${state}`);
      throw new Error('of the application');
    };
    const lanes = new Lanes<string>(
      () => Promise.resolve(down),
      new Deadlines(),
      { ...limits, breaker: { ...QUICK, pauseMs: 1_000 } },
      { breakerChanged },
    );
    const run = (token: string) => lanes.call({ ...SESSION, token }, sessionKeysOf({ ...SESSION, token }));
    await expect(run('a')).rejects.toThrow('of the application');
    jest.advanceTimersByTime(2_000);
    await expect(run('b')).rejects.toThrow('of the application');
    expect(await run('c')).toMatchObject({ reason: 'circuit_open' });
    expect([states, jest.getTimerCount()]).toEqual([['strangers open', 'strangers halfOpen'], 0]);
  });
});
