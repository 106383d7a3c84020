import { describe, expect, it } from '@jest/globals';
import { SessionAuthEvents, type ServiceState } from 'nestjs-session-auth';
import { CapturedLog } from '../support/captured-log.js';
import { PLATFORMS, type RunningApp } from '../support/platforms.js';
import { json, reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

const SUSPICION = 'apiKey or baseUrl is probably wrong';

describe.each(PLATFORMS)('a service that refuses everybody on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function ask(app: RunningApp, tokens: number): Promise<Set<number>> {
    const replies = await Promise.all(Array.from({ length: tokens }, (_, index) => app.get('/me', `token-${index}`)));
    return new Set(replies.map(({ status }) => status));
  }

  it.each([
    [401, 401],
    [403, 403],
  ])(
    'with %i is one line in the error log and degraded until it accepts somebody, and the answers of its users do not change',
    async (status, answer) => {
      const logger = new CapturedLog();
      const service = await bed.service();
      service.on('user_details', reply(status));
      const app = await bed.sample({ baseUrl: service.url }, { logger });

      const states: ServiceState[] = [];
      app.app.get(SessionAuthEvents).serviceState$.subscribe((state) => states.push(state));

      expect(await ask(app, 60)).toEqual(new Set([answer]));
      expect(logger.having('error', SUSPICION)).toHaveLength(1);
      expect(states).toEqual(['up', 'degraded']);
      service.on('user_details', json({ username: 'ann' }));
      await app.get('/me', 'ann');
      expect(states).toEqual(['up', 'degraded', 'up']);
    },
  );

  it('after it accepted somebody is nothing to tell', async () => {
    const logger = new CapturedLog();
    const service = await bed.service();
    service.on('user_details', json({ username: 'ann' }));
    const app = await bed.sample({ baseUrl: service.url }, { logger });
    await app.get('/me', 'ann');
    service.on('user_details', reply(401));

    expect(await ask(app, 60)).toEqual(new Set([401]));
    expect(logger.having('error', SUSPICION)).toEqual([]);
  });
});
