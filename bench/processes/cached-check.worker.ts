import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { tokens } from '../users.js';
import { guardInProcess, type GuardInProcess, type GuardOrder } from './guard-in-process.js';
import { serve } from './serve.js';

/** The time of a check, and how many of a batch returned a promise. */
export interface CheckResult {
  readonly usPerCheck: number;
  readonly promises: number;
}

const USERS = tokens('user', 200);
const BATCH = 500;

let measured: GuardInProcess;

/** As Nest's own consumer does: a boolean is taken as it is, anything else is waited for. */
async function givesPromise(context: ExecutionContextHost): Promise<boolean> {
  const result = measured.guard.canActivate(context);
  assert.equal(typeof result === 'boolean' ? result : await result, true);
  return typeof result !== 'boolean';
}

async function timeChecks(contexts: readonly ExecutionContextHost[]): Promise<number> {
  const { guard } = measured;
  const before = process.cpuUsage();
  for (const context of contexts) {
    const result = guard.canActivate(context);
    if (result !== true) await result;
  }
  return usSince(before);
}

/** Measures the reply headers only, which keep replies out of shared caches. */
function timeReplyHeaders(contexts: readonly ExecutionContextHost[]): number {
  const before = process.cpuUsage();
  for (const context of contexts) {
    const reply = context.getArgByIndex<ServerResponse>(1);
    reply.setHeader('Cache-Control', 'no-store');
    if (reply.getHeader('Vary') === undefined) reply.setHeader('Vary', 'X-AUTH-TOKEN');
  }
  return usSince(before);
}

/** Returns the microseconds of processor time since then. */
function usSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** Requests and replies are new for each check, as they are in an application; making them is not timed. */
function batch(): ExecutionContextHost[] {
  return Array.from({ length: BATCH }, (_, index) => measured.newContext(USERS[index % USERS.length] ?? ''));
}

async function usEach(
  durationMs: number,
  time: (contexts: ExecutionContextHost[]) => number | Promise<number>,
): Promise<number> {
  const until = performance.now() + durationMs;
  let usedUs = 0;
  let count = 0;
  do {
    usedUs += await time(batch());
    count += BATCH;
  } while (performance.now() < until);
  return usedUs / count;
}

const handlers = {
  /** Builds the application, and asks for every user once. */
  start: async (order: GuardOrder): Promise<void> => {
    measured = await guardInProcess(order);
    for (const token of USERS) await givesPromise(measured.newContext(token));
  },
  /** Checks cached sessions for this time. */
  run: async ({ durationMs }: { durationMs: number }): Promise<CheckResult> => {
    const promises = (await Promise.all(batch().map((context) => givesPromise(context)))).filter(
      Boolean,
    ).length;
    return { usPerCheck: await usEach(durationMs, timeChecks), promises };
  },
  /** Microseconds for the reply's headers alone. */
  runReplyHeaders: ({ durationMs }: { durationMs: number }): Promise<number> =>
    usEach(durationMs, timeReplyHeaders),
};

export type CachedCheckApi = typeof handlers;
serve(handlers);
