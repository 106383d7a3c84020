import { describe, expect } from '@jest/globals';
import { hold, silence, startSessionService } from 'nestjs-session-auth/testing';
import { PLATFORMS } from '../support/platforms.js';
import { plainRow } from './row.js';
import { startProbedApp } from './probed-app.js';

/** Far below what the calls in flight would wait for, and far above what a busy machine needs. */
const SOON_MS = 10_000;

describe.each(PLATFORMS.map(([name]) => [name] as const))('a shutdown on %s', (name) => {
  plainRow('N01', 'an application that closes answers its calls in flight with 503, and its process ends by itself', async () => {
    const service = await startSessionService();
    const held = hold(silence);
    service.on('user_details', held.script);
    const app = await startProbedApp(name, service.url, { timeoutMs: 300_000, cache: { ttlMs: 300_000 } });
    try {
      const inFlight = fetch(`${app.url}/me`, { headers: { 'x-auth-token': 'token' } });
      await held.arrived;
      const start = performance.now();
      await app.closeApp();

      const { status, headers } = await inFlight;
      expect([status, headers.get('cache-control')]).toEqual([503, 'no-store']);
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
      expect(await app.exit).toBe(0);
      expect(performance.now() - start).toBeLessThan(SOON_MS);
    } finally {
      await app.close();
      await service.close();
    }
  });
});
