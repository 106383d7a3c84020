import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { unavailable, type Verdict } from '../contract/outcome.js';
import { LeaseFollowers } from './leases.js';
import type { LookUp } from './shared-cache.js';

beforeEach(() => {
  jest.useFakeTimers();
  // The process is older than a check.
  jest.advanceTimersByTime(60_000);
});
afterEach(() => void jest.useRealTimers());

const LEASED = { kind: 'leased', lease: 'lease' } as const;
const MISSING = { kind: 'missing', sinceMs: 5 } as const;
const FOUND = {
  kind: 'found',
  verdict: { kind: 'authenticated', user: 'ann from the store', ageMs: 1 },
} as const;
const ANN = { kind: 'authenticated', user: 'ann from the service' } as const;

interface Course {
  /** The results of the store, each from a time on. */
  readonly store: readonly (readonly [fromMs: number, found: LookUp<string> | 'hangs'])[];
  /** The answer of the service, after a time. */
  readonly service?: readonly [tookMs: number, verdict: Verdict<string>];
  readonly patienceMs?: number;
  readonly timeoutMs?: number;
}

/** Follows a lease, by default for 3 s at most. Returns the verdict, its time, and what was settled. */
async function follow({
  store,
  service: [tookMs, answer] = [10, ANN],
  patienceMs = 1_000,
  timeoutMs = 3_000,
}: Course) {
  const startedAtMs = performance.now();
  const settled: LookUp<string>[] = [];
  const verdict = new LeaseFollowers<string>().follow('lease', {
    startedAtMs,
    timeoutMs,
    patienceMs,
    lookAgain: () => {
      const [, found] = store.findLast(([fromMs]) => performance.now() - startedAtMs >= fromMs) ?? [
        0,
        LEASED,
      ];
      return found === 'hangs' ? new Promise(() => undefined) : Promise.resolve(found);
    },
    settle: (found) => {
      settled.push(found);
      return found.kind === 'found'
        ? Promise.resolve(found.verdict)
        : new Promise((resolve) => setTimeout(resolve, tookMs, answer));
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
    const { verdict, afterMs, settled } = await follow({
      store: [[100, { kind: 'leased', lease: 'another' }]],
    });
    expect([verdict, settled]).toEqual([ANN, [expect.objectContaining({ kind: 'missing' })]]);
    expect(afterMs).toBeLessThanOrEqual(100 + 50 + 10);
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
    const { verdict, afterMs } = await follow({
      store: [[1_500, FOUND]],
      patienceMs: 500,
      service: [1, unavailable('busy')],
    });
    expect(verdict).toEqual(FOUND.verdict);
    expect(afterMs).toBeLessThanOrEqual(1_550);
  });

  it('uses a refusal of the service immediately, without waiting for the holder', async () => {
    const { verdict, afterMs } = await follow({
      store: [],
      patienceMs: 500,
      service: [10, { kind: 'unauthenticated' }],
    });
    expect(verdict).toEqual({ kind: 'unauthenticated' });
    expect(afterMs).toBeLessThanOrEqual(511);
  });

  it('handles a tombstone that it finds during its own call', async () => {
    const { settled } = await follow({
      store: [[600, { kind: 'revoked' }]],
      patienceMs: 500,
      service: [1_000, ANN],
    });
    expect(settled.map(({ kind }) => kind)).toEqual(['missing', 'revoked']);
  });

  it('ends with the outage of its own call when its time is over', async () => {
    const { verdict, afterMs } = await follow({
      store: [],
      patienceMs: 500,
      service: [10, unavailable('circuit_open')],
    });
    expect(verdict).toEqual(unavailable('circuit_open'));
    expect(afterMs).toBeLessThanOrEqual(3_000);
  });

  it('tries again if its own call finds no place and the lease has ended: it never ends as busy [Q20]', async () => {
    const startedAtMs = performance.now();
    const answers = [unavailable('busy'), unavailable('busy'), ANN] as const;
    let calls = 0;
    const verdict = new LeaseFollowers<string>().follow('lease', {
      startedAtMs,
      timeoutMs: 3_000,
      patienceMs: 1_000,
      lookAgain: () => Promise.resolve(MISSING),
      settle: () => Promise.resolve(answers[(calls += 1) - 1] ?? ANN),
    });
    await jest.advanceTimersByTimeAsync(3_000);
    expect([await verdict, calls]).toEqual([ANN, 3]);
  });

  it('makes one call only, if the lease ends without an answer during it', async () => {
    const { verdict, settled } = await follow({
      store: [[600, MISSING]],
      patienceMs: 500,
      service: [1_000, ANN],
    });
    expect([verdict, settled.map(({ kind }) => kind)]).toEqual([ANN, ['missing']]);
  });

  it('ends in time if the store never answers', async () => {
    const { verdict, afterMs } = await follow({
      store: [[0, 'hangs']],
      patienceMs: 500,
      service: [10, unavailable('busy')],
    });
    expect([verdict, afterMs]).toEqual([unavailable('timeout'), 3_000]);
  });

  it('waits no longer than its patience before its own call', async () => {
    const { settled, afterMs } = await follow({ store: [[0, 'hangs']], patienceMs: 500, service: [10, ANN] });
    expect([settled.map(({ kind }) => kind), afterMs]).toEqual([['missing'], 510]);
  });

  it('does not look into the store when its time is over', async () => {
    // It looks after 4, 12, 28 and 60 ms, and then every 50 ms.
    const course: Course = { store: [[3_010, FOUND]], patienceMs: 500, service: [10, unavailable('busy')] };
    expect((await follow({ ...course, timeoutMs: 3_010 })).verdict).toEqual(unavailable('timeout'));
    expect((await follow({ ...course, timeoutMs: 3_011 })).verdict).toEqual(FOUND.verdict);
  });
});

describe('many checks that wait for leases of other instances', () => {
  const CHECKS = 500;

  /**
   * Lets them wait. Returns the number of look-ups in each of the first tenths of a second, of which those
   * from `storedMs` on find an answer.
   */
  async function followAll(storedMs: number): Promise<number[]> {
    const followers = new LeaseFollowers<string>();
    const startedAtMs = performance.now();
    const lookUps: number[] = [];
    const lookAgain = (): Promise<LookUp<string>> => {
      const tookMs = performance.now() - startedAtMs;
      const tenth = Math.floor(tookMs / 100);
      lookUps[tenth] = (lookUps[tenth] ?? 0) + 1;
      return Promise.resolve(tookMs < storedMs ? LEASED : FOUND);
    };
    const settle = (): Promise<Verdict<string>> => Promise.resolve(ANN);
    const wait = { startedAtMs, timeoutMs: 3_000, patienceMs: 1_000, lookAgain, settle };
    const verdicts = Array.from({ length: CHECKS }, () => followers.follow('lease', wait));
    await jest.advanceTimersByTimeAsync(990);
    await Promise.all(verdicts);
    return lookUps;
  }

  it('look into the store some 200 times a second together while they find nothing, and catch up when answers are there [Q20]', async () => {
    const lookUps = await followAll(600);
    for (const count of lookUps.slice(1, 6)) expect([count >= 15, count <= 25]).toEqual([true, true]);
    expect(lookUps.slice(6).reduce((sum, count) => sum + count)).toBe(CHECKS);
  });
});
