import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FailureCounts, type FailureLimits } from './failure-counts.js';

const LIMITS: FailureLimits = { failures: 3, windowMs: 1_000, maxKeys: 5 };
const KEYS = ['a', 'b', 'c'];

/** Counts on a clock that the test moves. */
class Bench {
  nowMs = 500;
  readonly counts = new FailureCounts(LIMITS, () => this.nowMs);

  fail(key: string, times: number): void {
    for (let time = 0; time < times; time += 1) this.counts.add(key);
  }

  isFull(key: string): boolean {
    return this.counts.waitMs(key) > 0;
  }
}

/** The expected counts: every failure and every attempt in flight, in lists without bounds. */
class Model {
  failures: { readonly key: string; readonly atMs: number }[] = [];
  readonly attempts: string[] = [];

  waitMs(key: string, nowMs: number): number {
    const [oldest, ...others] = this.failures.filter((failure) => failure.key === key && failure.atMs + LIMITS.windowMs > nowMs);
    const count = oldest ? 1 + others.length : 0;
    if (oldest && count >= LIMITS.failures) return oldest.atMs + LIMITS.windowMs - nowMs;
    return count + this.attempts.filter((attempt) => attempt === key).length < LIMITS.failures ? 0 : 1;
  }
}

/** An attempt starts, one of those in flight ends, or time passes. */
type Step =
  { readonly start: string } | { readonly end: number; readonly outcome: 'failure' | 'success' | 'outage' } | { readonly passMs: number };

const STEPS = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ start: fc.constantFrom(...KEYS) }),
    fc.record({ end: fc.nat(20), outcome: fc.constantFrom('failure', 'success', 'outage') }),
    fc.record({ passMs: fc.constantFrom(1, 250, 999, 1_000) }),
  ),
  { maxLength: 60 },
);

function take(step: Step, bench: Bench, model: Model): void {
  if ('passMs' in step) bench.nowMs += step.passMs;
  else if ('start' in step) start(step.start, bench, model);
  else end(step.outcome, model.attempts.splice(step.end % Math.max(1, model.attempts.length), 1)[0], bench, model);
}

function start(key: string, bench: Bench, model: Model): void {
  if (bench.isFull(key)) return;
  bench.counts.reserve(key);
  model.attempts.push(key);
}

function end(outcome: string, key: string | undefined, { counts, nowMs }: Bench, model: Model): void {
  if (key === undefined) return;
  counts.release(key);
  if (outcome === 'failure') {
    counts.add(key);
    model.failures.push({ key, atMs: nowMs });
  } else if (outcome === 'success') {
    counts.clear(key);
    model.failures = model.failures.filter((failure) => failure.key !== key);
  }
}

describe('FailureCounts', () => {
  it('agrees with a model without bounds after any history of attempts, outcomes and pauses', () => {
    fc.assert(
      fc.property(STEPS, (steps) => {
        const [bench, model] = [new Bench(), new Model()];
        for (const step of steps) {
          take(step, bench, model);
          expect(KEYS.map((key) => bench.counts.waitMs(key))).toEqual(KEYS.map((key) => model.waitMs(key, bench.nowMs)));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('never has more failures of a key within any window than the limit, unless one of its attempts succeeds', () => {
    fc.assert(
      fc.property(STEPS, (steps) => {
        const [bench, model] = [new Bench(), new Model()];
        for (const step of steps) take(step, bench, model);
        for (const { key, atMs } of model.failures) {
          const within = model.failures.filter((other) => other.key === key && other.atMs >= atMs && other.atMs < atMs + LIMITS.windowMs);
          expect(within.length).toBeLessThanOrEqual(LIMITS.failures);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('keeps a counted key in a full table, however many other keys fail less often', () => {
    const bench = new Bench();
    bench.fail('attacker', 3);
    bench.fail('almost', 2);
    for (let number = 0; number < 1_000; number += 1) bench.fail(`junk ${number}`, 1);
    expect(bench.isFull('attacker')).toBe(true);
    bench.fail('almost', 1);
    expect(bench.isFull('almost')).toBe(true);
    expect(bench.counts.size).toBe(LIMITS.maxKeys);
  });

  it('evicts the key that failed longest ago of those with the fewest failures', () => {
    const bench = new Bench();
    for (const key of ['1', '2', '3', '4', '5']) bench.fail(key, 3);
    bench.fail('6', 1);
    expect(['1', '2', '3', '4', '5', '6'].filter((key) => bench.isFull(key))).toEqual(['2', '3', '4', '5']);
    bench.fail('7', 3);
    expect(['2', '3', '4', '5', '7'].filter((key) => bench.isFull(key))).toEqual(['2', '3', '4', '5', '7']);
    bench.fail('6', 2);
    expect(bench.isFull('6')).toBe(false);
  });

  it('evicts keys whose failures no longer count before any other', () => {
    const bench = new Bench();
    for (const key of ['1', '2', '3', '4']) bench.fail(key, 3);
    bench.nowMs += 500;
    bench.fail('5', 1);
    bench.nowMs += 500;
    bench.fail('6', 1);
    expect(bench.counts.size).toBe(2);
    bench.fail('5', 2);
    expect(bench.isFull('5')).toBe(true);
  });

  it('is never larger than its bounds: its keys, and the attempts in flight', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ key: fc.nat(30).map(String), passMs: fc.nat(300) }), { maxLength: 300 }), (failures) => {
        const bench = new Bench();
        for (const { key, passMs } of failures) {
          bench.nowMs += passMs;
          bench.counts.reserve(key);
          expect(bench.counts.size).toBeLessThanOrEqual(LIMITS.maxKeys + 1);
          bench.counts.release(key);
          bench.counts.add(key);
        }
        expect(bench.counts.size).toBeLessThanOrEqual(LIMITS.maxKeys);
      }),
    );
  });

  it('clears every failure on demand, and no attempt in flight', () => {
    const bench = new Bench();
    bench.fail('a', 3);
    for (let time = 0; time < 3; time += 1) bench.counts.reserve('b');
    bench.counts.clearAll();
    expect([bench.isFull('a'), bench.isFull('b')]).toEqual([false, true]);
  });
});
