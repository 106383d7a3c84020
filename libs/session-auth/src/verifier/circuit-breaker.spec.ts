import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CircuitBreaker, RollingWindow, type BreakerState } from './circuit-breaker.js';

const SETTINGS = { windowMs: 10_000, minimumCalls: 1, failureRatio: 0.5, pauseMs: 1_000, maxPauseMs: 60_000 };

/** A breaker that makes one call after the other; `states` records its changes. */
function breakerWith() {
  const states: BreakerState[] = [];
  const breaker = new CircuitBreaker(SETTINGS, (state) => states.push(state));
  return {
    states,
    breaker,
    call: (result: 'success' | 'failure' | 'neither') => breaker.record(breaker.begin(), result),
  };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('a circuit breaker', () => {
  it('reports its states: that it is half open as soon as the pause ends, and nothing after it has closed', () => {
    const { states, call } = breakerWith();
    call('failure');
    jest.advanceTimersByTime(999);
    expect(states).toEqual(['open']);
    jest.advanceTimersByTime(1);
    expect(states).toEqual(['open', 'halfOpen']);
    call('success');
    jest.advanceTimersByTime(60_000);
    expect(states).toEqual(['open', 'halfOpen', 'closed']);
  });

  it('stays half open after a probe that showed nothing, and then allows a single probe again', () => {
    const { states, breaker, call } = breakerWith();
    call('failure');
    jest.advanceTimersByTime(1_000);
    call('failure');
    jest.advanceTimersByTime(2_000);
    call('neither');
    expect(breaker.pauseLeftMs()).toBe(0);
    const probe = breaker.begin();
    expect([probe.kind, breaker.pauseLeftMs()]).toEqual(['halfOpen', 1_000]);
    breaker.record(probe, 'failure');
    expect([breaker.pauseLeftMs(), ...states]).toEqual([
      4_000,
      'open',
      'halfOpen',
      'open',
      'halfOpen',
      'open',
    ]);
  });

  it('reports no end of a pause that was undone', () => {
    const { states, breaker } = breakerWith();
    breaker.trip();
    breaker.undoTrip();
    jest.advanceTimersByTime(60_000);
    expect([states, breaker.begin().kind]).toEqual([['open', 'closed'], 'closed']);
  });

  it('needs no timer if its states are not reported', () => {
    const breaker = new CircuitBreaker(SETTINGS);
    breaker.record(breaker.begin(), 'failure');
    expect([jest.getTimerCount(), breaker.pauseLeftMs()]).toEqual([0, 1_000]);
  });
});

describe('the window of a circuit breaker', () => {
  it('counts all results within its duration, each for that duration', () => {
    const window = new RollingWindow(1_000);
    for (let nowMs = 0; nowMs < 1_000; nowMs += 50) window.count(nowMs >= 500, nowMs);
    expect(window.totals(999)).toEqual({ calls: 20, failed: 10 });
    expect(window.totals(1_000)).toEqual({ calls: 18, failed: 8 });
    expect(window.totals(1_500)).toEqual({ calls: 8, failed: 0 });
    expect(window.totals(1_900)).toEqual({ calls: 0, failed: 0 });
  });
});
