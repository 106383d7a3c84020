import { afterEach, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import fc from 'fast-check';
import { SessionAuthService } from 'nestjs-session-auth';
import { inspect } from 'node:util';
import { sampleApp } from '../support/sample-app.js';
import { wireCase } from './case-arbitrary.js';
import { CaseService } from './case-service.js';
import { reportRun } from './runs.js';
import { Trial, type Mismatch } from './trial.js';
import { MAX_BODY, type WireCase } from './wire-case.js';

const CASES = Number(process.env.FUZZ_RUNS ?? 3_000);
/**
 * The short run tries the same cases each time, so that a checkout passes or fails for good; the long run
 * looks for new ones.
 */
const SEED = Number(
  process.env.FUZZ_SEED ?? (process.env.FUZZ_RUNS === undefined ? 20_261_121 : Date.now() % 2 ** 31),
);
const PATH = process.env.FUZZ_PATH;

/** Cases are tried many at a time, or a silence would hold up all others. */
const MOST_AT_ONCE = Math.min(CASES, 10_000);
const IN_FLIGHT = 64;
/** For the cases and, after a failure, for the search for a smaller one. */
const MOST_MS = 120_000 + CASES * 2;
/** The patient one waits longer than any stall of a machine. */
const TIME = { hastyMs: 200, patientMs: 30_000 };

const started: { close(): Promise<void> }[] = [];
const { stackTraceLimit } = Error;
const rejections: unknown[] = [];
const keepRejection = (reason: unknown): void => void rejections.push(reason);

afterEach(async () => {
  Error.stackTraceLimit = stackTraceLimit;
  process.off('unhandledRejection', keepRejection);
  for (const closable of started.splice(0).reverse()) await closable.close();
});

async function sessionsOf(baseUrl: string, timeoutMs: number): Promise<SessionAuthService> {
  const options = {
    timeoutMs,
    retry: false,
    breaker: false,
    maxInFlight: IN_FLIGHT,
    http: { maxResponseBytes: MAX_BODY },
  } as const;
  const root = sampleApp({ baseUrl, options, controllers: [] });
  const context: INestApplicationContext = await NestFactory.createApplicationContext(root, {
    logger: false,
    abortOnError: false,
  });
  started.push(context);
  return context.get(SessionAuthService);
}

async function startTrial(): Promise<Trial> {
  const service = new CaseService();
  const url = await service.start();
  started.push(service);
  const [hasty, patient] = [await sessionsOf(url, TIME.hastyMs), await sessionsOf(url, TIME.patientMs)];
  return new Trial(service, { ...TIME, hasty, patient });
}

async function tryAll(trial: Trial, cases: readonly WireCase[]): Promise<Mismatch[]> {
  const mismatches: Mismatch[] = [];
  const waiting = cases.values();
  const lanes = Array.from({ length: IN_FLIGHT }, async () => {
    for (const next of waiting) {
      const mismatch = await trial.run(next);
      if (mismatch) mismatches.push(mismatch);
    }
  });
  await Promise.all(lanes);
  return mismatches;
}

function report(mismatches: readonly Mismatch[]): string {
  return mismatches
    .slice(0, 20)
    .map(({ wireCase: { bytes, ...how }, expected, observed }) => {
      return [
        JSON.stringify(bytes),
        inspect(how),
        `expected ${inspect(expected)}`,
        `observed ${inspect(observed)}`,
      ].join('\n  ');
    })
    .join('\n');
}

it(
  'returns the verdict that the rules demand for any answer, well-formed or broken',
  async () => {
    process.on('unhandledRejection', keepRejection);
    process.stdout.write(`fuzz: FUZZ_SEED=${SEED} FUZZ_RUNS=${CASES}\n`);
    // A refusal of the service class is an error; its stack is never read here, and would cost more than the
    // check.
    Error.stackTraceLimit = 0;
    const trial = await startTrial();
    const since = performance.now();
    let last: readonly Mismatch[] = [];

    const property = fc.asyncProperty(
      fc.noBias(fc.array(wireCase, { minLength: 1, maxLength: MOST_AT_ONCE, size: 'max' })),
      async (cases) => {
        if (trial.tally.cases >= CASES && last.length === 0) return true;
        const mismatches = await tryAll(trial, cases);
        if (mismatches.length > 0) last = mismatches;
        expect(rejections).toEqual([]);
        expect(Object.keys(Object.prototype)).toEqual([]);
        return mismatches.length === 0;
      },
    );
    const runs = Math.ceil((2.5 * CASES) / MOST_AT_ONCE) + 4;
    const result = await fc.check(property, {
      numRuns: runs,
      seed: SEED,
      interruptAfterTimeLimit: MOST_MS,
      ...(PATH && { path: PATH }),
    });

    Error.stackTraceLimit = stackTraceLimit;
    const { tally } = trial;
    const perSecond = Math.round((tally.cases * 1_000) / (performance.now() - since));
    reportRun(`verdicts: ${tally.toString()}; ${perSecond} cases a second`);
    if (result.failed)
      throw new Error(
        `FUZZ_RUNS=${CASES} FUZZ_SEED=${SEED} FUZZ_PATH=${result.counterexamplePath ?? ''}\n${report(last)}`,
        {
          cause: result.errorInstance,
        },
      );
    if (PATH) return;
    expect(result.interrupted).toBe(false);
    expect(tally.cases).toBeGreaterThan(CASES / 2);
    // A slow machine asks again more often than a quick one, but never for most cases.
    expect(tally.askedAgain / tally.cases).toBeLessThan(0.5);
    expect(tally.exact / tally.cases).toBeGreaterThan(0.6);
    expect(Math.min(tally.share('allow'), tally.share('unavailable'))).toBeGreaterThan(0.15);
    expect(Math.min(tally.share('unauthenticated'), tally.share('forbidden'))).toBeGreaterThan(0.02);
  },
  MOST_MS + 30_000,
);
