import { describe, expect } from '@jest/globals';
import { startSessionService } from 'nestjs-session-auth/testing';
import { PLATFORMS } from '../support/platforms.js';
import { startProbedApp } from './probed-app.js';
import { plainRow } from './row.js';
import { ANN } from './trial.js';

const MIB = 1024 * 1024;

describe.each(PLATFORMS.map(([name]) => [name] as const))('a flood on %s', (name) => {
  plainRow('G06', '100 000 tokens of nobody are refused within 32 MiB of heap, and push out no signed-in user', async () => {
    const service = await startSessionService();
    const app = await startProbedApp(name, service.url, { cache: { ttlMs: 300_000 } });
    try {
      const me = async (): Promise<number> => (await fetch(`${app.url}/me`, { headers: { 'x-auth-token': token } })).status;
      const token = service.signInAs(ANN);
      expect(await me()).toBe(200);
      await app.flood(1_000);
      service.requests.length = 0;
      const before = (await app.memory()).heapBytes;

      expect(await app.flood(100_000)).toEqual({ SESSION_REJECTED: 100_000 });
      expect((await app.memory()).heapBytes - before).toBeLessThan(32 * MIB);
      const asked = service.requests.length;
      expect([await me(), service.requests.length - asked]).toEqual([200, 0]);
    } finally {
      await app.close();
      await service.close();
    }
  });
});
