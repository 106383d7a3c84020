import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import fc from 'fast-check';
import { SessionAuthService } from 'nestjs-session-auth';
import { sampleApp } from '../support/sample-app.js';
import { wireCase } from './case-arbitrary.js';
import { CaseService } from './case-service.js';
import { Counts, failOnRejections, limitMs, runsOf, tryCases } from './runs.js';
import { Trial, type Mismatch } from './trial.js';
import { MAX_BODY, type WireCase } from './wire-case.js';

const runs = runsOf('verdicts', 3_000);
/** Cases are tried many at a time, or a silence would hold up all others. */
const AT_ONCE = Math.min(runs.cases / 4, 5_000);
const IN_FLIGHT = 64;
/** The patient one waits longer than any stall of a machine. */
const TIME = { hastyMs: 200, patientMs: 30_000 };

const started: { close(): Promise<void> }[] = [];
const { stackTraceLimit } = Error;
failOnRejections();
// A refusal of the service class is an error; its stack is never read here, and would cost more than the check.
beforeEach(() => void (Error.stackTraceLimit = 0));
afterEach(async () => {
  Error.stackTraceLimit = stackTraceLimit;
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
  const context = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
  started.push(context);
  return context.get(SessionAuthService);
}

async function startTrial(counts: Counts): Promise<Trial> {
  const service = new CaseService();
  const url = await service.start();
  started.push(service);
  const [hasty, patient] = [await sessionsOf(url, TIME.hastyMs), await sessionsOf(url, TIME.patientMs)];
  return new Trial(service, { ...TIME, hasty, patient }, counts);
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

it(
  'returns the verdict that the rules demand for any answer, well-formed or broken',
  async () => {
    const counts = new Counts();
    const trial = await startTrial(counts);
    await tryCases(
      'verdicts',
      { ...runs, cases: Math.ceil(runs.cases / AT_ONCE) },
      fc.array(wireCase, { minLength: 1, maxLength: 2 * AT_ONCE, size: 'max' }),
      async (cases) => expect(await tryAll(trial, cases)).toEqual([]),
      counts,
    );

    const share = (what: string): number => (counts.get(what) ?? 0) / (counts.get('answers') ?? 0);
    expect(counts.get('answers')).toBeGreaterThan(runs.cases / 2);
    // A slow machine asks again more often than a quick one, but never for most cases.
    expect(share('asked again')).toBeLessThan(0.5);
    expect(share('with one right outcome')).toBeGreaterThan(0.6);
    expect(Math.min(share('allow'), share('unavailable'))).toBeGreaterThan(0.15);
    expect(Math.min(share('unauthenticated'), share('forbidden'))).toBeGreaterThan(0.02);
  },
  limitMs(runs),
);
