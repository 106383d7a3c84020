import { describe, expect, it } from '@jest/globals';
import { DENIED, REJECTED, unavailable, type Verdict } from '../contract/verdict.js';
import { CircuitBreaker } from './circuit-breaker.js';
import type { BreakerSettings } from './circuit.js';

const ann: Verdict<string> = { kind: 'accepted', user: 'ann' };
const down = unavailable('unreachable');

interface Trial {
  readonly breaker: CircuitBreaker;
  readonly sleep: (ms: number) => void;
  /** Makes calls that end so, and gives what their callers got. */
  readonly call: (verdict: Verdict<string>, times?: number) => Promise<Verdict<string>>;
}

function trialOf(settings: Partial<BreakerSettings> = {}): Trial {
  let now = 0;
  const limits = { windowMs: 1_000, minimumCalls: 4, failureRatio: 0.5, pauseMs: 2_000, maxPauseMs: 6_000, ...settings };
  const breaker = new CircuitBreaker(limits, () => now);
  return {
    breaker,
    sleep: (ms) => void (now += ms),
    call: async (verdict, times = 1) => {
      for (let made = 1; made < times; made += 1) await breaker.protect(() => Promise.resolve(verdict));
      return breaker.protect(() => Promise.resolve(verdict));
    },
  };
}

describe('the circuit', () => {
  it('opens once enough calls failed, and says for how long', async () => {
    const { breaker, call, sleep } = trialOf();
    await call(down, 3);
    expect(breaker.refusal()).toBeUndefined();
    await call(down);
    expect(breaker.refusal()).toEqual(unavailable('circuit_open', 2));
    sleep(500);
    expect(breaker.refusal()?.retryAfterSeconds).toBe(2);
    sleep(500);
    expect(await call(ann)).toEqual(unavailable('circuit_open', 1));
  });

  it.each<[string, Verdict<string>]>([
    ['accepted sessions', ann],
    ['refused tokens', REJECTED],
    ['403', DENIED],
    ['a full queue', unavailable('busy')],
    ['a circuit that is open', unavailable('circuit_open')],
    ['a key function that fails', unavailable('api_key')],
    ['a shutdown', unavailable('shutting_down')],
    ['connections that the service had closed', { ...down, staleConnection: true }],
  ])('never opens for %s', async (_name, verdict) => {
    const { breaker, call } = trialOf();
    await call(verdict, 1_000);
    expect(breaker.refusal()).toBeUndefined();
  });

  it('does not open while fewer than the given part fail, nor for failures of long ago', async () => {
    const { breaker, call, sleep } = trialOf();
    await call(ann, 10);
    await call(down, 9);
    expect(breaker.refusal()).toBeUndefined();
    sleep(1_000);
    await call(down, 3);
    expect(breaker.refusal()).toBeUndefined();
  });

  it('lets a single probe through after its pause, and closes when that succeeds', async () => {
    const { breaker, call, sleep } = trialOf();
    await call(down, 4);
    sleep(2_000);
    const landings: ((verdict: Verdict<string>) => void)[] = [];
    const probe = breaker.protect(() => new Promise<Verdict<string>>((resolve) => landings.push(resolve)));
    expect(breaker.refusal()).toEqual(unavailable('circuit_open', 1));
    expect(await call(ann)).toEqual(unavailable('circuit_open', 1));
    landings[0]?.(REJECTED);
    expect(await probe).toEqual(REJECTED);
    expect(await call(ann)).toEqual(ann);
  });

  it('pauses longer each time that a probe fails, up to a limit', async () => {
    const { breaker, call, sleep } = trialOf();
    await call(down, 4);
    const pauses: (number | undefined)[] = [];
    for (const waitMs of [2_000, 4_000, 6_000]) {
      sleep(waitMs);
      await call(down);
      pauses.push(breaker.refusal()?.retryAfterSeconds);
    }
    expect(pauses).toEqual([4, 6, 6]);
  });

  it('probes again at once when a probe ended for a reason of this side', async () => {
    const { breaker, call, sleep } = trialOf();
    await call(down, 4);
    sleep(2_000);
    await call(unavailable('api_key'));
    expect(breaker.refusal()).toBeUndefined();
    expect(await call(ann)).toEqual(ann);
  });

  it('never opens at a success, however many calls failed before', async () => {
    const { breaker, call } = trialOf();
    await call(down, 3);
    await call(ann);
    expect(breaker.refusal()).toBeUndefined();
    await call(down);
    expect(breaker.refusal()).toEqual(unavailable('circuit_open', 2));
  });

  it('goes on to pause longer after a probe that ended for a reason of this side', async () => {
    const { breaker, call, sleep } = trialOf();
    await call(down, 4);
    sleep(2_000);
    await call(unavailable('shutting_down'));
    await call(down);
    expect(breaker.refusal()).toEqual(unavailable('circuit_open', 4));
  });

  it('is not held open longer by calls that began before it opened and fail late', async () => {
    const { breaker, call, sleep } = trialOf();
    const landings: ((verdict: Verdict<string>) => void)[] = [];
    const late = Array.from({ length: 4 }, () => breaker.protect(() => new Promise<Verdict<string>>((land) => landings.push(land))));
    await call(down, 4);
    sleep(900);
    for (const land of landings) land(down);
    await Promise.all(late);
    sleep(1_100);
    expect(breaker.refusal()).toBeUndefined();
  });

  it('learns nothing from a call that began before it opened', async () => {
    const { breaker, call, sleep } = trialOf();
    const landings: ((verdict: Verdict<string>) => void)[] = [];
    const early = breaker.protect(() => new Promise<Verdict<string>>((resolve) => landings.push(resolve)));
    await call(down, 4);
    landings[0]?.(ann);
    await early;
    expect(breaker.refusal()).toEqual(unavailable('circuit_open', 2));
    sleep(2_000);
    expect(breaker.refusal()).toBeUndefined();
  });
});
