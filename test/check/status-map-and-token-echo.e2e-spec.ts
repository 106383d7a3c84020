import { describe, expect, it } from '@jest/globals';
import type { StatusMap, TokenEcho } from 'nestjs-session-auth';
import { CapturedLog } from '../support/captured-log.js';
import { PLATFORMS } from '../support/platforms.js';
import { json, reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

const ANSWERS = { unauthenticated: 401, forbidden: 403, unavailable: 503 } as const;
const STATUSES = [400, 401, 403, 404] as const;
const MEANINGS = Object.keys(ANSWERS) as (keyof typeof ANSWERS)[];

describe.each(PLATFORMS)('statusMap on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each(STATUSES.flatMap((status) => MEANINGS.map((meaning) => [status, meaning] as const)))(
    'says that %p is %s, and leaves the others as they are',
    async (status, meaning) => {
      const service = await bed.service();
      const statusMap: StatusMap = { [status]: meaning };
      const app = await bed.sample({ baseUrl: service.url, options: { statusMap } });
      const expected = { 400: 401, 401: 401, 403: 403, 404: 401, [status]: ANSWERS[meaning] };
      const answered: Record<number, number> = {};
      for (const upstream of STATUSES) {
        service.on('user_details', reply(upstream));
        answered[upstream] = (await app.get('/me', 'token')).status;
      }

      expect(answered).toEqual(expected);
      expect(service.callsTo('user_details')).toBe(4);
    },
  );

  it.each([
    [undefined, 503],
    [{ 404: 'unauthenticated' } as const, 401],
  ])('decides on a 404 with a body too: %j', async (statusMap, status) => {
    const service = await bed.service();
    service.on('user_details', reply(404, '{"error":"no such session"}'));
    const app = await bed.sample({ baseUrl: service.url, options: statusMap ? { statusMap } : {} });

    expect((await app.get('/me', 'token')).status).toBe(status);
  });
});

describe.each(PLATFORMS)('tokenEcho on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each<[TokenEcho | undefined, number, number]>([
    ['ignore', 200, 0],
    ['warn', 200, 1],
    [undefined, 503, 1],
    ['deny', 503, 1],
  ])('%p answers %p to a record with another token, and warns %p times', async (tokenEcho, status, warnings) => {
    const service = await bed.service();
    service.on('user_details', json({ username: 'ann', auth_token: 'another-token' }));
    const logger = new CapturedLog();
    const app = await bed.sample({ baseUrl: service.url, options: tokenEcho ? { tokenEcho } : {} }, { logger });

    expect((await app.get('/me', 'token')).status).toBe(status);
    expect((await app.get('/me', 'token')).status).toBe(status);
    expect(logger.having('warn', 'auth_token')).toHaveLength(warnings);
    expect(logger.lines.join('\n')).not.toContain('another-token');
  });

  it.each(['ignore', 'warn', 'deny'] as const)('%p lets the same token, and none at all, pass', async (tokenEcho) => {
    const service = await bed.service();
    const logger = new CapturedLog();
    const app = await bed.sample({ baseUrl: service.url, options: { tokenEcho } }, { logger });

    for (const record of [{ auth_token: 'token' }, {}, { auth_token: null }]) {
      service.on('user_details', json({ username: 'ann', ...record }));
      expect((await app.get('/me', 'token')).status).toBe(200);
    }
    expect(logger.having('warn', 'auth_token')).toHaveLength(0);
  });
});
