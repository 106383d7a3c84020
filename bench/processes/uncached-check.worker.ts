import assert from 'node:assert/strict';
import type { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { tokens } from '../users.js';
import { guardInProcess, type GuardInProcess, type GuardOrder } from './guard-in-process.js';
import { serve } from './serve.js';

/** No more than there are connections, so that no check waits for another. */
const CONCURRENT = 32;
const CHECKS = 3_200;
/**
 * Requests that are made at a time. Each that lives makes every collection of garbage longer, and with 320 of
 * them, some processes kept all for several collections and others none.
 */
const BATCH = 64;
/** Before that, the code is not compiled as it is in a process that has worked for some minutes. */
const WARM_UP_RUNS = 20;
const USERS = tokens('user', CHECKS);

let measured: GuardInProcess;

async function checkInTurn(contexts: Iterator<ExecutionContextHost>): Promise<void> {
  for (let next = contexts.next(); !next.done; next = contexts.next())
    assert.equal(await measured.guard.canActivate(next.value), true);
}

const handlers = {
  /** Builds the application, and opens its connections. */
  start: async (order: GuardOrder): Promise<void> => {
    measured = await guardInProcess(order);
    for (let run = 0; run < WARM_UP_RUNS; run += 1) await handlers.run();
  },
  /** Microseconds of processor time for one check, each of another session. Requests are made before. */
  run: async (): Promise<number> => {
    let usedUs = 0;
    for (let first = 0; first < CHECKS; first += BATCH) {
      const batch = USERS.slice(first, first + BATCH);
      const contexts = batch.map((token) => measured.newContext(token)).values();
      const before = process.cpuUsage();
      await Promise.all(Array.from({ length: CONCURRENT }, () => checkInTurn(contexts)));
      const { user, system } = process.cpuUsage(before);
      usedUs += user + system;
    }
    return usedUs / CHECKS;
  },
  /** Checks of a run. */
  checks: (): number => CHECKS,
};

export type UncachedCheckApi = typeof handlers;
serve(handlers);
