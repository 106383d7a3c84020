import assert from 'node:assert/strict';
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { token } from '../users.js';
import { guardInProcess, type GuardInProcess } from './guard-in-process.js';
import { serve } from './serve.js';

const CONCURRENT = 100;
const SAMPLE = 5_000;
const LIFETIME_MS = 300_000;
const STEP_MS = 5;
/** A thousand checks at once wait for each other: none is denied for that. */
const TIMEOUT_MS = 60_000;

let measured: GuardInProcess;
let before = 0;
let cached = 0;

async function check(context: ExecutionContextHost): Promise<void> {
  assert.equal(await measured.guard.canActivate(context), true);
}

function bytesInUse(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Contexts of cached sessions, drawn at random: no part of the cache stays in the processor's own. */
function sample(count: number): ExecutionContextHost[] {
  return Array.from({ length: count }, () =>
    measured.newContext(token('user', Math.floor(Math.random() * cached))),
  );
}

const handlers = {
  /** Builds the application. With `maxEntries` 0, nothing is cached. */
  start: async ({ serviceUrl, maxEntries }: { serviceUrl: string; maxEntries: number }): Promise<void> => {
    const cache = { ttlMs: LIFETIME_MS, maxEntries };
    measured = await guardInProcess({
      variant: 'ours',
      serviceUrl,
      timeoutMs: TIMEOUT_MS,
      ...(maxEntries > 0 && { cache }),
    });
    await check(measured.newContext(token('user', 0)));
    before = bytesInUse();
  },
  /** Caches more sessions. Returns the bytes that all of them take. */
  fill: async ({ sessions }: { sessions: number }): Promise<number> => {
    const work = async (): Promise<void> => {
      while (cached < sessions) await check(measured.newContext(token('user', (cached += 1) - 1)));
    };
    await Promise.all(Array.from({ length: CONCURRENT }, work));
    return bytesInUse() - before;
  },
  /** Microseconds of processor time for one check of a cached session. */
  usPerCheck: async (): Promise<number> => {
    const contexts = sample(SAMPLE);
    const started = cpuUs();
    for (const context of contexts) {
      const result = measured.guard.canActivate(context);
      if (result !== true) await check(context);
    }
    return (cpuUs() - started) / SAMPLE;
  },
  /**
   * Microseconds of processor time for one check of an uncached session, with this number of concurrent
   * tokens.
   */
  usPerCall: async ({ tokens }: { tokens: number }): Promise<number> => {
    const rounds = Math.ceil(2_000 / tokens);
    const started = cpuUs();
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all(
        Array.from({ length: tokens }, (_, index) => check(measured.newContext(token('user', index)))),
      );
    }
    return (cpuUs() - started) / (rounds * tokens);
  },
  /** Microseconds of processor time for one operation whose fields are all guarded. */
  usPerOperation: async ({ fields }: { fields: number }): Promise<number> => {
    const operations = sample(SAMPLE / 10).map((context) => {
      const again = (): ExecutionContextHost =>
        Object.assign(Object.create(context) as ExecutionContextHost, {});
      return Array.from({ length: fields }, again);
    });
    const started = cpuUs();
    for (const contexts of operations) for (const context of contexts) await check(context);
    return (cpuUs() - started) / operations.length;
  },
  /**
   * Checks cached sessions at a fixed rate. Returns the longest pause of the garbage collector, in
   * milliseconds.
   */
  longestPauseMs: async ({
    durationMs,
    perSecond,
  }: {
    durationMs: number;
    perSecond: number;
  }): Promise<number> => {
    let longest = 0;
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
    });
    observer.observe({ entryTypes: ['gc'] });
    for (let elapsed = 0; elapsed < durationMs; elapsed += STEP_MS) {
      for (const context of sample((perSecond * STEP_MS) / 1_000)) await check(context);
      await delay(STEP_MS);
    }
    observer.disconnect();
    return longest;
  },
};

export type GrowthApi = typeof handlers;
serve(handlers);
