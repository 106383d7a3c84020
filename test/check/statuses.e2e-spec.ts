import { describe, expect, it } from '@jest/globals';
import { CapturedLog } from '../support/captured-log.js';
import { oneOf } from '../support/long-form.js';
import { PLATFORMS } from '../support/platforms.js';
import { drop, inTurn, json, reply, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { TRANSPORTS } from '../support/transports.js';

const ANN = json({ username: 'ann' });
const PAGE = '<html>an error page</html>';

describe.each(oneOf(PLATFORMS))('the status of user_details on %s', (_name, platform) => {
  const bed = testbed(platform);

  describe.each(TRANSPORTS)('over %s', (_transport, http) => {
    it.each<[string, Script, number, number]>([
      ['200', ANN, 200, 1],
      ['400', reply(400), 401, 1],
      ['401', reply(401), 401, 1],
      ['401 with a body', reply(401, PAGE), 401, 1],
      ['404', reply(404), 401, 1],
      ['404 with a page', reply(404, PAGE), 503, 1],
      ['403', reply(403), 403, 1],
      ...[201, 202, 203, 204, 205, 206, 304, 402, 405, 409, 410, 418, 422, 429, 451].map((status): [string, Script, number, number] => [
        String(status),
        reply(status),
        503,
        1,
      ]),
      ...[201, 202, 206, 299].map((status): [string, Script, number, number] => [
        `${status} with a record`,
        reply(status, '{"username":"ann"}', { 'content-type': 'application/json' }),
        503,
        1,
      ]),
      ['200 and no body', reply(200), 503, 1],
      ...[500, 502, 503, 504].map((status): [string, Script, number, number] => [
        `${status} once`,
        inTurn(reply(status, PAGE), ANN),
        200,
        2,
      ]),
      ['500 every time', reply(500, PAGE), 503, 2],
      ['a reset once', inTurn(drop, ANN), 200, 2],
      ['a reset every time', drop, 503, 2],
      ['500 and then 401', inTurn(reply(500), reply(401)), 401, 2],
    ])('%s becomes the right answer, after the right number of calls', async (_status, script, status, calls) => {
      const service = await bed.service();
      service.on('user_details', script);
      const app = await bed.sample({ baseUrl: service.url, options: { http: http() } });
      const answer = await app.get('/me', 'token');

      expect(answer.status).toBe(status);
      expect(answer.headers.has('retry-after')).toBe(status === 503);
      expect(service.callsTo('user_details')).toBe(calls);
      service.on('user_details', ANN);
      expect((await app.get('/me', 'token')).status).toBe(200);
    });
  });

  it.each<[false | { maxAttempts: number }, number]>([
    [false, 1],
    [{ maxAttempts: 1 }, 1],
    [{ maxAttempts: 3 }, 3],
  ])('500 is tried as often as `retry: %j` says', async (retry, calls) => {
    const service = await bed.service();
    service.on('user_details', reply(500));
    const app = await bed.sample({ baseUrl: service.url, options: { retry } });

    expect((await app.get('/me', 'token')).status).toBe(503);
    expect(service.callsTo('user_details')).toBe(calls);
  });

  it.each([
    ['7', '7'],
    ['1', '1'],
    ['0', '1'],
    ['120', '120'],
    ['121', '120'],
    ['9'.repeat(400), '120'],
    ['Thu, 01 Jan 1970 00:00:00 GMT', '1'],
    ['Fri, 31 Dec 9999 23:59:59 GMT', '120'],
    ['-5', expect.stringMatching(/^\d{1,3}$/)],
    ['1.5', expect.stringMatching(/^\d{1,3}$/)],
    ['soon', expect.stringMatching(/^\d{1,3}$/)],
    ['', expect.stringMatching(/^\d{1,3}$/)],
  ])('429, 408 and 503 pass a Retry-After of %p on, within 1 to 120', async (asked, told) => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, options: { retry: false } });

    for (const status of [429, 408, 503]) {
      service.on('user_details', reply(status, '', { 'retry-after': asked }));
      expect((await app.get('/me', 'token')).headers.get('retry-after')).toEqual(told);
    }
  });

  it('404 with a page is logged once as an unexpected reply, without the page', async () => {
    const service = await bed.service();
    service.on('user_details', reply(404, PAGE, { 'content-type': 'text/html' }));
    const logger = new CapturedLog();
    const app = await bed.sample({ baseUrl: service.url }, { logger });
    await app.get('/me', 'token');
    await app.get('/me', 'token');

    expect(logger.having('warn', 'unexpected reply')).toHaveLength(1);
    expect(logger.lines.join('\n')).not.toContain('an error page');
  });

  it('500 with a page shows the page neither in the reply nor in the log', async () => {
    const service = await bed.service();
    service.on('user_details', reply(500, PAGE, { 'content-type': 'text/html' }));
    const logger = new CapturedLog();
    const app = await bed.sample({ baseUrl: service.url }, { logger });

    expect(await (await app.get('/me', 'token')).text()).not.toContain('an error page');
    expect(logger.lines.join('\n')).not.toContain('an error page');
  });
});
