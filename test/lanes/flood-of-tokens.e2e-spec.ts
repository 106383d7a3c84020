import { describe, expect } from '@jest/globals';
import { startSessionService } from 'nestjs-session-auth/testing';
import { IS_LONG_FORM, oneOf } from '../support/long-form.js';
import { PLATFORMS } from '../support/platforms.js';
import { startProbedApp } from '../support/trial/probed-app.js';
import { plainRow } from '../support/trial/row.js';
import { ANN } from '../support/trial/trial.js';

const MIB = 1024 * 1024;

/** The short form floods a cache of fewer places, in which nothing lapses meanwhile: what it may not keep would take more than the limit. */
const FORM = IS_LONG_FORM
  ? { tokens: 100_000, maxGrowthBytes: 32 * MIB, cache: {} }
  : { tokens: 20_000, maxGrowthBytes: 2 * MIB, cache: { maxEntries: 500, negativeTtlMs: 300_000 } };

describe.each(oneOf(PLATFORMS).map(([name]) => [name] as const))('a flood on %s', (name) => {
  plainRow('a flood of tokens of nobody is refused within 32 MiB of heap, and pushes out no signed-in user [G06]', async () => {
    const service = await startSessionService();
    const app = await startProbedApp(name, service.url, { timeoutMs: 60_000, cache: { ttlMs: 300_000, ...FORM.cache } });
    try {
      const me = async (): Promise<number> => (await fetch(`${app.url}/me`, { headers: { 'x-auth-token': token } })).status;
      const token = service.signInAs(ANN);
      expect(await me()).toBe(200);
      await app.flood(1_000);
      service.requests.length = 0;
      const before = (await app.memory()).heapBytes;

      expect(await app.flood(FORM.tokens)).toEqual({ SESSION_REJECTED: FORM.tokens });
      expect((await app.memory()).heapBytes - before).toBeLessThan(FORM.maxGrowthBytes);
      const asked = service.requests.length;
      expect([await me(), service.requests.length - asked]).toEqual([200, 0]);
    } finally {
      await app.close();
      await service.close();
    }
  });
});
