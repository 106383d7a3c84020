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

function trialOf(settings: Partial<BreakerSettings> = {}) {
  let now = 0;
  let tokens = 0;
  const limits = {
    windowMs: 1_000,
    minimumCalls: 4,
    failureRatio: 0.5,
    pauseMs: 2_000,
    maxPauseMs: 6_000,
    ...settings,
  };
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const breaker = new LaneBreaker(limits);
  /** Begins a call with a token of its own, or with the one given; `undefined` when it is refused. */
  const begin = (token = `token-${(tokens += 1)}`): Call | undefined => {
    if (breaker.denial(token as TokenKey)) return undefined;
    const began = breaker.begin();
    return {
      end: (verdict) => breaker.recordCall(began, verdict, token as TokenKey, true),
    };
  };
  return {
    breaker,
    sleep: (ms: number) => void (now += ms),
    begin,
    /** Makes calls that end so; returns how many were let through. */
    call: (verdict: Verdict<string>, times = 1, token?: string): number => {
      const begun = Array.from({ length: times }, () => {
        const call = begin(token);
        call?.end(verdict);
        return call;
      });
      return begun.filter(Boolean).length;
    },
    refusal: (token = 'another') => breaker.denial(token as TokenKey),
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

  it('opens once when tripped, and probes after the first pause', () => {
    const { breaker, refusal, call, sleep } = trialOf();
    breaker.trip();
    sleep(1_000);
    breaker.trip();
    expect(refusal()).toEqual(unavailable('circuit_open', 1));
    sleep(1_000);
    expect(call(ann, 2)).toBe(2);
  });

  it('stays half open if the one that tripped it closes during its own probe', () => {
    const { breaker, refusal, begin, sleep } = trialOf();
    breaker.trip();
    sleep(2_000);
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
  const limits = { minimumCalls: 20, windowMs: 10_000 };

  it('count as probes also beyond their limit', () => {
    const { refusal, call, sleep } = trialOf({ windowMs: 10_000 });
    for (const token of ['a', 'b', 'c', 'd']) call(down, 1, token);
    sleep(3_000);
    call(down, 1, 'a');
    expect(refusal()).toEqual(unavailable('circuit_open', 4));
  });

  it('count only up to their limit after the breaker has closed again, and when they alternate', () => {
    const { refusal, call, sleep } = trialOf(limits);
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
