import { describe, expect, it } from '@jest/globals';
import { startSessionService } from 'nestjs-session-auth/testing';
import { inLongForm } from '../support/long-form.js';
import { platforms } from '../support/platforms.js';
import { startProbedApp } from '../support/trial/probed-app.js';
import { ANN } from '../support/trial/trial.js';
const MIB = 1024 * 1024;

/**
 * The short form floods a cache of fewer places, in which nothing expires meanwhile: entries beyond its bound
 * would take more than the limit.
 */
const FORM = inLongForm('90,000 of 100,000 junk tokens')
  ? { tokens: 100_000, maxGrowthBytes: 32 * MIB, cache: {} }
  : { tokens: 10_000, maxGrowthBytes: MIB, cache: { maxEntries: 500, negativeTtlMs: 300_000 } };

describe.each(platforms('Fastify').map(([name]) => [name] as const))('a flood on %s', (name) => {
  it('a flood of unknown tokens is refused within 32 MiB of heap, and evicts no signed-in user [G06]', async () => {
    const service = await startSessionService();
    const app = await startProbedApp(name, service.url, {
      timeoutMs: 60_000,
      cache: { ttlMs: 300_000, ...FORM.cache },
    });
    try {
      const me = async (): Promise<number> =>
        (await fetch(`${app.url}/me`, { headers: { 'x-auth-token': token } })).status;
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
