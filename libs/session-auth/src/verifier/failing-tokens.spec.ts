import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { UNAUTHENTICATED, unavailable } from '../contract/outcome.js';
import type { TokenKey } from '../contract/session-identity.js';
import type { BreakerSettings } from './circuit-breaker.js';
import { LaneBreaker } from './circuit-breaker.js';

const VERDICTS = { success: UNAUTHENTICATED, failure: unavailable('unreachable') };

afterEach(() => void jest.restoreAllMocks());

/**
 * A breaker that opens after 20 calls, if five tokens failed, four times each at most. It starts long after
 * the process.
 */
function trialOf(settings: Partial<BreakerSettings> = {}) {
  let now = 20_000;
  const limits = {
    windowMs: 10_000,
    minimumCalls: 20,
    failureRatio: 0.5,
    pauseMs: 2_000,
    maxPauseMs: 6_000,
    ...settings,
  };
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const breaker = new LaneBreaker(limits);
  const call = (result: keyof typeof VERDICTS, times: number, ...tokens: string[]): void => {
    for (const token of tokens)
      for (let made = 0; made < times; made += 1)
        breaker.recordCall(breaker.begin(), VERDICTS[result], token as TokenKey, true);
  };
  return {
    breaker,
    sleep: (ms: number) => void (now += ms),
    call,
    fail: (times: number, ...tokens: string[]) => call('failure', times, ...tokens),
    isOpen: () => breaker.denial('another' as TokenKey) !== undefined,
    mayProbe: (token: string) => breaker.denial(token as TokenKey) === undefined,
  };
}

describe('four tokens whose calls always fail', () => {
  it('do not open the breaker together with calls that succeed', () => {
    const { call, fail, isOpen } = trialOf();
    call('success', 10, 'ann');
    fail(1_000, 'a', 'b', 'c', 'd');
    expect(isOpen()).toBe(false);
    fail(1, 'e');
    expect(isOpen()).toBe(true);
  });

  it('do not open the breaker together with a token that failed before the window', () => {
    const { call, fail, isOpen, sleep } = trialOf();
    fail(4, 'e');
    sleep(10_000);
    call('success', 10, 'ann');
    fail(4, 'a', 'b', 'c', 'd');
    expect(isOpen()).toBe(false);
  });

  it('open the breaker together with a token that failed just within the window', () => {
    const { call, fail, isOpen, sleep } = trialOf();
    fail(4, 'e');
    sleep(9_999);
    call('success', 10, 'ann');
    fail(4, 'a', 'b', 'c', 'd');
    expect(isOpen()).toBe(true);
  });
});

describe('one token whose calls always fail', () => {
  it('does not open the breaker, however many other tokens succeed', () => {
    const { call, fail, isOpen } = trialOf({ failureRatio: 0.1 });
    call('success', 4, 'a', 'b', 'c', 'd', 'e');
    fail(1_000, 'broken');
    expect(isOpen()).toBe(false);
  });

  it('counts four times within a window', () => {
    const { fail, isOpen } = trialOf();
    fail(1_000, 'broken');
    fail(4, 'a', 'b', 'c');
    fail(3, 'd');
    expect(isOpen()).toBe(false);
    fail(1, 'd');
    expect(isOpen()).toBe(true);
  });

  it('counts four times again when a window has passed since its first failure', () => {
    const { fail, isOpen, sleep } = trialOf();
    fail(4, 'broken');
    sleep(9_000);
    fail(1, 'broken');
    sleep(1_000);
    fail(4, 'a', 'b', 'c', 'd');
    fail(3, 'broken');
    expect(isOpen()).toBe(false);
    fail(1, 'broken');
    expect(isOpen()).toBe(true);
  });
});

describe('the pause of a breaker', () => {
  it('is a second longer for a token that failed, and for no token that succeeded', () => {
    const { call, fail, mayProbe, sleep } = trialOf();
    call('success', 1, 'ann');
    fail(4, 'a', 'b', 'c', 'd');
    fail(3, 'e');
    sleep(2_000);
    expect(['ann', 'a', 'e'].map(mayProbe)).toEqual([true, false, false]);
    sleep(1_000);
    expect(mayProbe('a')).toBe(true);
  });

  it('is a second longer for the last 256 tokens that failed', () => {
    const { breaker, fail, mayProbe, sleep } = trialOf({ minimumCalls: 1_000 });
    const tokens = Array.from({ length: 257 }, (_, index) => `token-${index}`);
    fail(1, ...tokens.slice(0, 256));
    breaker.trip();
    sleep(2_000);
    expect(tokens.slice(0, 2).map(mayProbe)).toEqual([false, false]);

    const later = trialOf({ minimumCalls: 1_000 });
    later.fail(1, ...tokens);
    later.breaker.trip();
    later.sleep(2_000);
    expect(tokens.slice(0, 2).map(later.mayProbe)).toEqual([true, false]);
  });
});
