import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { unavailable, type Verdict } from '../../contract/outcome.js';
import { followLease } from './leases.js';
import type { LookUp } from './shared-cache.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const LEASED = { kind: 'leased', lease: 'lease' } as const;
const MISSING = { kind: 'missing', isHolder: false, sinceMs: 5 } as const;
const FOUND = { kind: 'found', verdict: { kind: 'authenticated', user: 'ann from the store', ageMs: 1 } } as const;
const ANN = { kind: 'authenticated', user: 'ann from the service' } as const;

interface Course {
  /** What the store has, from so many milliseconds on. */
  readonly store: readonly (readonly [fromMs: number, found: LookUp<string>])[];
  /** What the service answers, after how long. */
  readonly service?: readonly [tookMs: number, verdict: Verdict<string>];
  readonly patienceMs?: number;
}

/** Follows a lease for 3 s at most. Returns the verdict, its time, and what was settled. */
async function follow({ store, service: [tookMs, answer] = [10, ANN], patienceMs = 1_000 }: Course) {
  const startedAtMs = performance.now();
  const settled: LookUp<string>[] = [];
  const verdict = followLease<string>('lease', {
    startedAtMs,
    timeoutMs: 3_000,
    patienceMs,
    lookAgain: () => Promise.resolve(store.findLast(([fromMs]) => performance.now() - startedAtMs >= fromMs)?.[1] ?? LEASED),
    settle: (found) => {
      settled.push(found);
      return found.kind === 'found' ? Promise.resolve(found.verdict) : new Promise((resolve) => setTimeout(resolve, tookMs, answer));
    },
  });
  let afterMs = -1;
  void verdict.then(() => (afterMs = performance.now() - startedAtMs));
  await jest.advanceTimersByTimeAsync(4_000);
  return { verdict: await verdict, afterMs, settled };
}

describe('a check that finds a lease of another instance', () => {
  it('uses the answer that the holder stores, and makes no call', async () => {
    const { verdict, afterMs, settled } = await follow({ store: [[300, FOUND]] });
    expect([verdict, settled]).toEqual([FOUND.verdict, [FOUND]]);
    expect(afterMs).toBeLessThanOrEqual(350);
  });

  it('calls the service as soon as the lease has ended without an answer', async () => {
    const { verdict, afterMs, settled } = await follow({ store: [[100, MISSING]] });
    expect([verdict, settled]).toEqual([ANN, [MISSING]]);
    expect(afterMs).toBeLessThanOrEqual(100 + 50 + 10);
  });

  it('waits for one lease only', async () => {
    const { verdict, settled } = await follow({ store: [[100, { kind: 'leased', lease: 'another' }]] });
    expect([verdict, settled]).toEqual([ANN, [expect.objectContaining({ kind: 'missing' })]]);
  });

  it('makes a call too when the holder takes longer than a usual call, and uses the first answer', async () => {
    const own = await follow({ store: [[2_000, FOUND]], patienceMs: 200 });
    expect(own.verdict).toEqual(ANN);
    expect(own.afterMs).toBeLessThanOrEqual(210);
    const shared = await follow({ store: [[600, FOUND]], patienceMs: 500, service: [1_000, ANN] });
    expect(shared.verdict).toEqual(FOUND.verdict);
    expect(shared.afterMs).toBeLessThanOrEqual(650);
  });

  it('uses a late answer of the holder if its own call failed', async () => {
    const { verdict, afterMs } = await follow({ store: [[1_500, FOUND]], patienceMs: 500, service: [1, unavailable('busy')] });
    expect(verdict).toEqual(FOUND.verdict);
    expect(afterMs).toBeLessThanOrEqual(1_550);
  });

  it('uses a refusal of the service immediately, without waiting for the holder', async () => {
    const { verdict, afterMs } = await follow({ store: [], patienceMs: 500, service: [10, { kind: 'unauthenticated' }] });
    expect(verdict).toEqual({ kind: 'unauthenticated' });
    expect(afterMs).toBeLessThanOrEqual(511);
  });

  it('handles a tombstone that it finds during its own call', async () => {
    const { settled } = await follow({ store: [[600, { kind: 'revoked' }]], patienceMs: 500, service: [1_000, ANN] });
    expect(settled.map(({ kind }) => kind)).toEqual(['missing', 'revoked']);
  });

  it('ends with the outage of its own call when its time is over', async () => {
    const { verdict, afterMs } = await follow({ store: [], patienceMs: 500, service: [10, unavailable('circuit_open')] });
    expect(verdict).toEqual(unavailable('circuit_open'));
    expect(afterMs).toBeLessThanOrEqual(3_000);
  });
});
