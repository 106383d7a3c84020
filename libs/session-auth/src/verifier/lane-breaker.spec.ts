import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { TokenKey } from '../contract/session-identity.js';
import { unavailable, type Verdict } from '../contract/outcome.js';
import type { BreakerSettings } from './circuit-breaker.js';
import { LaneBreaker } from './circuit-breaker.js';

const ann: Verdict<string> = { kind: 'authenticated', user: 'ann' };
const down = unavailable('unreachable');

/** A call that has begun; `end` gives it its answer. */
interface Call {
  end(verdict: Verdict<string>): void;
}

/** Opens after 20 calls, if five tokens failed, of which each counts four times at most. */
const LARGE = { windowMs: 10_000, minimumCalls: 20 };

const FOUR = ['bob', 'dave', 'eve', 'kim'];

function trialOf(settings: Partial<BreakerSettings> = {}) {
  // Long after the start of the process.
  let now = 20_000;
  let tokens = 0;
  const limits = { windowMs: 1_000, minimumCalls: 4, failureRatio: 0.5, pauseMs: 2_000, maxPauseMs: 6_000 };
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const breaker = new LaneBreaker({ ...limits, ...settings });
  /** Begins a call with a token of its own, or with the one given; `undefined` when it is refused. */
  const begin = (token = `token-${(tokens += 1)}`): Call | undefined => {
    if (breaker.denial(token as TokenKey)) return undefined;
    const began = breaker.begin();
    return { end: (verdict) => breaker.recordCall(began, verdict, token as TokenKey, true) };
  };
  /** Makes calls that end so; returns how many were let through. */
  const call = (verdict: Verdict<string>, times = 1, token?: string): number => {
    const begun = Array.from({ length: times }, () => {
      const one = begin(token);
      one?.end(verdict);
      return one;
    });
    return begun.filter(Boolean).length;
  };
  const refusal = (token = 'another') => breaker.denial(token as TokenKey);
  return {
    breaker,
    sleep: (ms: number) => void (now += ms),
    begin,
    call,
    fail: (times: number, ...failing: string[]) => failing.forEach((token) => call(down, times, token)),
    refusal,
    isOpen: () => refusal() !== undefined,
    mayProbe: (token: string) => refusal(token) === undefined,
  };
}

afterEach(() => void jest.restoreAllMocks());

describe('the circuit breaker', () => {
  it('does not open while fewer than failureRatio fail, nor for failures before the window', () => {
    const { refusal, call, sleep } = trialOf();
    call(ann, 10);
    call(down, 9);
    expect(refusal()).toBeUndefined();
    sleep(1_000);
    call(down, 3);
    expect(refusal()).toBeUndefined();
  });

  it('pauses longer each time that a probe fails, up to a limit', () => {
    const { refusal, call, sleep } = trialOf();
    call(down, 4);
    const pauses: (number | undefined)[] = [];
    for (const waitMs of [2_000, 4_000, 6_000]) {
      sleep(waitMs);
      call(down);
      pauses.push(refusal()?.retryAfterSeconds);
    }
    expect(pauses).toEqual([4, 6, 6]);
  });

  it('opens a tenth of the window after the last success of any call, however many succeeded before [P77]', () => {
    const { isOpen, call, sleep } = trialOf(LARGE);
    const everyoneFor = (tenths: number, verdict: Verdict<string>) => {
      for (let passed = 0; passed < tenths && !isOpen(); passed += 1) {
        for (const user of ['ann', ...FOUR]) call(verdict, 10, user);
        sleep(100);
      }
    };
    everyoneFor(100, ann);
    everyoneFor(9, down);
    expect(isOpen()).toBe(false);
    everyoneFor(2, down);
    expect(isOpen()).toBe(true);
  });

  it('stays closed while any call succeeds within a tenth of the window, if most do', () => {
    const { isOpen, call, fail, sleep } = trialOf(LARGE);
    call(ann, 100);
    for (let passed = 0; passed < 100; passed += 1) {
      fail(10, ...FOUR, 'mallory');
      if (passed % 9 === 0) call(ann, 5);
      sleep(100);
    }
    expect(isOpen()).toBe(false);
  });

  it('stays closed beside five users that always fail while the others only pause, as few do now and then', () => {
    const { isOpen, call, fail, sleep } = trialOf(LARGE);
    call(ann, 30);
    for (let tenth = 0; tenth < 150; tenth += 1) {
      if (tenth % 15 === 0) call(ann, 5);
      fail(10, ...FOUR, 'mallory');
      sleep(100);
      expect(isOpen()).toBe(false);
    }
  });

  it('never opens on a success, however many calls failed before', () => {
    const { refusal, call } = trialOf();
    call(down, 3);
    call(ann);
    expect(refusal()).toBeUndefined();
    call(down);
    expect(refusal()).toEqual(unavailable('circuit_open', 2));
  });

  it('does not stay open longer for calls that began before it opened and fail later', () => {
    const { refusal, begin, call, sleep } = trialOf();
    const late = Array.from({ length: 4 }, () => begin());
    call(down, 4);
    sleep(900);
    for (const one of late) one?.end(down);
    sleep(1_100);
    expect(refusal()).toBeUndefined();
  });

  it('stays half open if the one that tripped it closes during its own probe', () => {
    const { breaker, refusal, begin, sleep } = trialOf();
    breaker.trip();
    sleep(1_000);
    breaker.trip();
    sleep(1_000);
    begin();
    breaker.undoTrip();
    expect(refusal()).toEqual(unavailable('circuit_open', 1));
  });
});

describe('a circuit breaker whose service limits the rate', () => {
  const limited = unavailable('rate_limited', 10);

  it('pauses after two of the callers since the first 429, not of those before, nor five minutes apart', () => {
    const { refusal, call, sleep } = trialOf();
    call(limited);
    sleep(300_000);
    call(limited);
    expect(refusal()).toBeUndefined();
    call(limited);
    expect(refusal()).toEqual(limited);
    const other = trialOf();
    other.call(ann, 10);
    other.call(limited, 2);
    expect(other.refusal()).toEqual(limited);
  });

  it.each([
    [2, true],
    [3, false],
  ])(
    'pauses if at least half of the callers since then got a 429: two of them beside %d others',
    (others, pauses) => {
      const { refusal, call } = trialOf();
      call(limited);
      call(ann, others);
      call(limited);
      expect(refusal() !== undefined).toBe(pauses);
    },
  );

  it('pauses for one to its probe, and for none of a call that began before it opened', () => {
    const { refusal, call, sleep } = trialOf();
    call(down, 4);
    sleep(2_000);
    call(limited);
    expect(refusal()).toEqual(limited);
    const other = trialOf();
    const early = [other.begin(), other.begin()];
    other.call(down, 4);
    for (const one of early) one?.end(limited);
    expect(other.refusal()).toEqual(unavailable('circuit_open', 2));
  });

  it('may be probed by a caller that got a 429 a second later than by others', () => {
    const { call, mayProbe, sleep } = trialOf();
    for (const token of ['a', 'b']) call(limited, 1, token);
    sleep(10_000);
    expect(['a', 'c'].map(mayProbe)).toEqual([false, true]);
  });

  it('is limited until a probe shows something, and then has the first pause if that fails', () => {
    const { refusal, begin, call, sleep } = trialOf();
    call(limited, 2);
    sleep(10_000);
    call(unavailable('malformed'));
    const probe = begin();
    expect(refusal()).toEqual(unavailable('rate_limited', 1));
    probe?.end(down);
    expect(refusal()).toEqual(unavailable('circuit_open', 2));
  });
});

describe('the tokens whose calls fail', () => {
  it('count as probes also beyond their limit', () => {
    const { refusal, call, sleep } = trialOf({ windowMs: 10_000 });
    for (const token of ['a', 'b', 'c', 'd']) call(down, 1, token);
    sleep(3_000);
    call(down, 1, 'a');
    expect(refusal()).toEqual(unavailable('circuit_open', 4));
  });

  it('count only up to their limit after the breaker has closed again, and when they alternate', () => {
    const { refusal, call, sleep } = trialOf(LARGE);
    const fail = (): void => {
      for (let turn = 0; turn < 60; turn += 1) call(down, 1, `broken-${turn % 8}`);
    };
    fail();
    expect(refusal()).toBeDefined();
    sleep(2_000);
    expect(call(ann, 50)).toBe(50);
    fail();
    expect(refusal()).toBeUndefined();
  });
});

describe('four tokens whose calls always fail', () => {
  it('do not open the breaker together with calls that succeed', () => {
    const { call, fail, isOpen } = trialOf(LARGE);
    call(ann, 10);
    fail(1_000, 'a', 'b', 'c', 'd');
    expect(isOpen()).toBe(false);
    fail(1, 'e');
    expect(isOpen()).toBe(true);
  });

  it.each([
    [9_999, true],
    [10_000, false],
  ])('open the breaker together with a token that failed %d ms before: %p', (agoMs, opens) => {
    const { call, fail, isOpen, sleep } = trialOf(LARGE);
    fail(4, 'e');
    sleep(agoMs);
    call(ann, 10);
    fail(4, 'a', 'b', 'c', 'd');
    expect(isOpen()).toBe(opens);
  });
});

describe('one token whose calls always fail', () => {
  it('counts four times within a window, which begins with its first failure', () => {
    const { fail, isOpen, sleep } = trialOf(LARGE);
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
  it('is a second longer for the last 256 tokens that failed, and for no others', () => {
    const { breaker, fail, mayProbe, sleep } = trialOf({ ...LARGE, minimumCalls: 1_000 });
    const tokens = Array.from({ length: 257 }, (_, index) => `token-${index}`);
    fail(1, ...tokens);
    breaker.trip();
    sleep(2_000);
    expect(['ann', ...tokens.slice(0, 2)].map(mayProbe)).toEqual([true, true, false]);
    sleep(1_000);
    expect(tokens.slice(0, 2).map(mayProbe)).toEqual([true, true]);
  });
});
