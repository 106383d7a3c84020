import { afterEach, beforeEach, expect } from '@jest/globals';
import fc from 'fast-check';
import { appendFileSync } from 'node:fs';

/** Cases of a fuzz, and from where they are drawn. */
interface Runs {
  readonly cases: number;
  readonly seed: number;
}

/** The short run tries the same cases each time, so that a checkout passes or fails for good. */
const SHORT_SEED = 20_261_122;

/**
 * Returns how many cases to try: `short` of them in the suite, and a part of FUZZ_RUNS in the long run, whose
 * cases are new each time.
 */
export function runsOf(name: string, short: number, part = 1): Runs {
  const { FUZZ_RUNS, FUZZ_SEED } = process.env;
  const cases = FUZZ_RUNS === undefined ? short : Math.ceil(Number(FUZZ_RUNS) * part);
  const seed = Number(FUZZ_SEED ?? (FUZZ_RUNS === undefined ? SHORT_SEED : Date.now() % 2 ** 31));
  process.stdout.write(`fuzz of ${name}: FUZZ_SEED=${seed}, ${cases} cases\n`);
  return { cases, seed };
}

/** For a whole run, and for the search for a smaller case. */
export function limitMs({ cases }: Runs): number {
  return 150_000 + cases * 20;
}

/** Tries the cases. Fails with the smallest one that breaks a rule, and prints the counts of the cases. */
export async function tryCases<Case>(
  name: string,
  { cases, seed }: Runs,
  drawn: fc.Arbitrary<Case>,
  isRight: (one: Case) => void | Promise<void>,
  tally: ReadonlyMap<string, number>,
): Promise<void> {
  const since = performance.now();
  const { FUZZ_PATH } = process.env;
  const settings = { numRuns: cases, seed, ...(FUZZ_PATH !== undefined && { path: FUZZ_PATH }) };
  const property = fc.asyncProperty(fc.noBias(drawn), async (one) => {
    await isRight(one);
  });
  try {
    await fc.assert(property, settings);
  } finally {
    const perSecond = Math.round((cases * 1_000) / (performance.now() - since));
    const counts = [...tally].map(([what, times]) => `${times} ${what}`).sort();
    const result = `${name}: ${cases} cases; ${counts.join(', ')}; ${perSecond} cases a second\n`;
    process.stdout.write(`fuzz of ${result}`);
    const { FUZZ_REPORT } = process.env;
    if (FUZZ_REPORT !== undefined) appendFileSync(FUZZ_REPORT, result);
  }
}

/** Counts the kinds of cases. */
export class Counts extends Map<string, number> {
  add(what: string): void {
    this.set(what, (this.get(what) ?? 0) + 1);
  }
}

/** Fails a test during which a rejection was not handled, or `Object.prototype` was changed. */
export function failOnRejections(): void {
  const rejections: unknown[] = [];
  const keep = (reason: unknown): void => void rejections.push(reason);
  beforeEach(() => void process.on('unhandledRejection', keep));
  afterEach(() => {
    process.off('unhandledRejection', keep);
    expect(rejections.splice(0)).toEqual([]);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
}
