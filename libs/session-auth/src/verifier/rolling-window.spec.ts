import { describe, expect, it } from '@jest/globals';
import { RollingWindow } from './circuit-breaker.js';

describe('the window', () => {
  it('counts all results within its duration, each for that duration', () => {
    const window = new RollingWindow(1_000);
    for (let nowMs = 0; nowMs < 1_000; nowMs += 50) window.count(nowMs >= 500, nowMs);
    expect(window.totals(999)).toEqual({ calls: 20, failed: 10 });
    expect(window.totals(1_000)).toEqual({ calls: 18, failed: 8 });
    expect(window.totals(1_500)).toEqual({ calls: 8, failed: 0 });
    expect(window.totals(1_900)).toEqual({ calls: 0, failed: 0 });
  });

  it('removes only the oldest tenth when a new one begins', () => {
    const window = new RollingWindow(1_000);
    for (let nowMs = 0; nowMs <= 1_000; nowMs += 100) window.count(false, nowMs);
    expect(window.totals(1_000)).toEqual({ calls: 10, failed: 10 });
  });
});
