import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { sessionKeysOf } from '../contract/session-identity.js';
import type { LaneName } from '../contract/diagnostics.js';
import { Deadlines } from '../client/deadline.js';
import { UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { BreakerState } from './circuit-breaker.js';
import type { LaneSettings } from './lanes.js';
import { Lanes } from './lanes.js';

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

describe('the lanes', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

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

  it('report the end of a pause of their breakers, also without a call', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
    const { changes, fail } = trial();
    await fail('known', 25);
    jest.advanceTimersByTime(breaker.pauseMs);
    expect(new Map(changes.slice(2))).toEqual(
      new Map([
        ['known', 'halfOpen'],
        ['strangers', 'halfOpen'],
      ]),
    );
  });

  it('both close when the probe of a known session succeeds and no stranger made a call', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
    const { changes, fail } = trial();
    await fail('known', 25);
    jest.advanceTimersByTime(breaker.pauseMs);
    await fail('known', 1, UNAUTHENTICATED);
    expect(changes.slice(4)).toEqual([
      ['known', 'closed'],
      ['strangers', 'closed'],
    ]);
  });

  it('leave the breaker of strangers to its own probe if calls of strangers failed', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
    const { changes, fail } = trial();
    await fail('strangers', 25);
    await fail('known', 25);
    jest.advanceTimersByTime(breaker.pauseMs);
    await fail('known', 1, UNAUTHENTICATED);
    expect(changes.slice(-1)).toEqual([['known', 'closed']]);
  });

  it('do not open the breaker of strangers again when the probe of a known session fails', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
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
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
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
