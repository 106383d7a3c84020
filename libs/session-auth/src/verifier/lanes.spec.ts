import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { TokenKey } from '../contract/session-identity.js';
import type { LaneName } from '../contract/diagnostics.js';
import { Deadline, Deadlines } from '../client/deadline.js';
import { UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { BreakerState } from './circuit-breaker.js';
import { type BreakerChanged, Lanes } from './lanes.js';
import type { Lane, LaneSettings } from './lane.js';

const settings = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 128, maxQueued: 1_024 };
const breaker = { windowMs: 10_000, minimumCalls: 20, failureRatio: 0.5, pauseMs: 1_000, maxPauseMs: 30_000 };
const down = unavailable('server_error');

function lanesOf(set: LaneSettings, breakerChanged?: BreakerChanged): Readonly<Record<LaneName, Lane>> {
  return new Lanes(() => Promise.resolve(down), new Deadlines(), set, { breakerChanged }).lanes;
}

function trial() {
  const changes: [LaneName, BreakerState][] = [];
  const lanes = lanesOf({ ...settings, breaker }, (lane, state) => changes.push([lane, state]));
  let calls = 0;
  const fail = async (lane: LaneName, times: number, verdict: Verdict<string> = down): Promise<void> => {
    for (let made = 0; made < times; made += 1) {
      const deadline = new Deadline(60_000);
      await lanes[lane].call(() => Promise.resolve(verdict), `${lane}-${(calls += 1)}` as TokenKey, deadline);
      deadline.clear();
    }
  };
  return { lanes, changes, fail };
}

describe('the lanes', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('have a quarter of the places for strangers, and the rest for known sessions', () => {
    const sharesOf = (maxInFlight: number, maxQueued: number): number[][] => {
      const { known, strangers } = lanesOf({ ...settings, maxInFlight, maxQueued });
      return [
        [known.share, strangers.share],
        [known.queueShare, strangers.queueShare],
      ];
    };
    expect(sharesOf(128, 1_024)).toEqual([
      [96, 32],
      [768, 256],
    ]);
    expect(sharesOf(2, 3)).toEqual([
      [1, 1],
      [2, 1],
    ]);
    expect(sharesOf(1, 0)).toEqual([
      [1, 0],
      [0, 0],
    ]);
  });

  it('limit strangers in flight from the first check of a known session on', async () => {
    const { lanes, fail } = trial();
    lanes.strangers.inFlight = settings.maxInFlight;

    expect(lanes.strangers.isAtLimit).toBe(false);
    await fail('known', 1);
    expect(lanes.strangers.isAtLimit).toBe(true);
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

  it('have no breaker if it is off', async () => {
    const { known } = lanesOf(settings);
    const deadline = new Deadline(60_000);
    for (let call = 0; call < 100; call += 1) {
      await known.call(() => Promise.resolve(down), `known-${call}` as TokenKey, deadline);
    }
    deadline.clear();
    expect(known.breaker.denial('ann' as TokenKey)).toBeUndefined();
  });

  it('have separate retry budgets', async () => {
    const { known, strangers } = lanesOf({ ...settings, maxAttempts: 2 });
    const attemptsOf = async (lane: typeof known, checks: number): Promise<number> => {
      let attempts = 0;
      const deadline = new Deadline(60_000);
      const attempt = (): Promise<Verdict<string>> => Promise.resolve(((attempts += 1), down));
      const check = (): Promise<unknown> => lane.call(attempt, 'token' as TokenKey, deadline);
      await Promise.all(Array.from({ length: checks }, check));
      deadline.clear();
      return attempts;
    };
    expect(await attemptsOf(strangers, 100)).toBe(110);
    expect(await attemptsOf(known, 10)).toBe(20);
  });
});
