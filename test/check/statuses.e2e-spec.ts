import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { always } from '../support/always.js';
import { CapturedLog } from '../support/captured-log.js';
import { platforms } from '../support/platforms.js';
import { drop, inTurn, json, reply, type Script } from '../support/scripted-service.js';
import { sharedSample } from '../support/shared-sample.js';
import { testbed } from '../support/testbed.js';
import { TRANSPORTS } from '../support/transports.js';
import { IV, KEY, TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN, type Trial } from '../support/trial/trial.js';

const ANSWER = json({ username: 'ann' });
const PAGE = '<html>an error page</html>';

describe.each(platforms('Express'))('the status of user_details on %s', (_name, platform) => {
  describe.each(TRANSPORTS)('over %s', (_transport, http) => {
    const shared = sharedSample({ options: { http: http(), breaker: false } }, platform);

    it.each<[string, Script, number, number]>([
      ['200', ANSWER, 200, 1],
      ['401', reply(401), 401, 1],
      ['404 with a page', reply(404, PAGE), 503, 1],
      ['a reset once', inTurn(drop, ANSWER), 200, 2],
      ['a reset every time', drop, 503, 2],
      ['500 and then 401', inTurn(reply(500), reply(401)), 401, 2],
    ])(
      '%s becomes the right answer, after the right number of calls',
      async (_status, script, status, calls) => {
        const { app, service } = shared;
        service.on('user_details', script);
        const answer = await app.get('/me', randomUUID());

        expect(answer.status).toBe(status);
        expect(answer.headers.has('retry-after')).toBe(status === 503);
        expect(service.callsTo('user_details')).toBe(calls);
        service.on('user_details', ANSWER);
        expect((await app.get('/me', 'token')).status).toBe(200);
      },
    );
  });
});

const CACHE = { cache: { ttlMs: 300_000 } };

/** The status that the caller gets, and the calls that were made for it, for each answer of user_details. */
async function outcomes(trial: Trial, scripts: readonly Script[]): Promise<[number, number][]> {
  const seen: [number, number][] = [];
  for (const script of scripts) {
    trial.service.on('user_details', script);
    const before = trial.calls();
    seen.push([await trial.status(), trial.calls() - before]);
  }
  return seen;
}

const statuses = (...codes: number[]): Script[] => codes.map((code) => reply(code));

describe.each(platforms('Express'))('answers to a check on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'a valid record lets the caller in, after one call with no other data of the caller [B01]',
    async (trial) => {
      const { status, body } = await trial.ask({
        lines: ['Cookie: a=b', 'Authorization: Bearer x', 'X-API-KEY: theirs', 'Accept: text/html'],
      });

      expect([status, JSON.parse(body)]).toEqual([200, ANN]);
      expect(trial.service.requests.map(({ headers }) => headers)).toEqual([
        {
          ...{ host: new URL(trial.service.url).host, connection: 'keep-alive' },
          ...{ accept: 'application/json', 'accept-encoding': 'identity' },
          ...{ 'x-api-key': KEY, 'x-auth-token': TOKEN, 'x-auth-iv': IV },
        },
      ]);
    },
  );

  row('401, 400 and 404 without a body become 401, each after one call [B02]', async (trial) => {
    expect(await outcomes(trial, statuses(401, 400, 404))).toEqual(Array(3).fill([401, 1]));
  });

  row(
    '403 becomes 403 after one call, and is not cached [B03]',
    async (trial) => {
      expect(await outcomes(trial, statuses(403, 403))).toEqual(Array(2).fill([403, 1]));
    },
    { options: CACHE },
  );

  row('404 with a page is not the session service: 503 each time, and one warning [B04]', async (trial) => {
    const page = reply(404, PAGE, { 'content-type': 'text/html' });
    expect(await outcomes(trial, [page, page])).toEqual(Array(2).fill([503, 1]));
    expect(trial.log.having('warn', 'unexpected reply')).toHaveLength(1);
    expect(trial.log.lines.join('\n')).not.toContain('an error page');
  });

  row(
    '202 becomes 503, as 204 and 200 without a body do, and is not cached [B05] [B06]',
    async (trial) => {
      expect(await outcomes(trial, statuses(202, 202, 204, 200))).toEqual(Array(4).fill([503, 1]));
    },
    { options: CACHE },
  );

  row(
    '500, 502, 503 or 504 once, and then a record, lets the caller in after two calls [B07]',
    async (trial) => {
      const once = [500, 502, 503, 504].map((code) => inTurn(reply(code, PAGE), json(ANN)));
      expect(await outcomes(trial, once)).toEqual(Array(4).fill([200, 2]));
    },
  );

  row(
    '500 every time becomes 503 after two calls at most, and its page is neither in the reply nor in the log [B08]',
    async (trial) => {
      trial.service.on('user_details', reply(500, PAGE, { 'content-type': 'text/html' }));
      const { status, body } = await trial.ask();

      expect([status, trial.calls()]).toEqual([503, 2]);
      expect([body, ...trial.log.lines].join('\n')).not.toContain('an error page');
    },
  );

  row('429 becomes 503 with the Retry-After of the service, after one call [B09]', async (trial) => {
    trial.service.on('user_details', reply(429, '', { 'retry-after': '7' }));
    const { status, headers } = await trial.ask();

    expect([status, headers.get('retry-after'), trial.calls()]).toEqual([503, '7', 1]);
  });

  row('a redirect becomes 503, and its target gets no connection [B10]', async (trial) => {
    const target = await trial.another();
    const location = `${target.url}/authentication/user_details`;
    const redirects = [301, 302, 303, 307, 308].map((code) => reply(code, '', { location }));

    expect(await outcomes(trial, redirects)).toEqual(Array(5).fill([503, 1]));
    expect(target.connections()).toBe(0);
  });
});

describe.each(platforms('Express'))('tokenEcho on %s', (_name, platform) => {
  const bed = testbed(platform);

  it('answers 503 to records with another token by default, and warns once', async () => {
    const service = await bed.service();
    service.on('user_details', json({ username: 'ann', auth_token: 'another-token' }));
    const logger = new CapturedLog();
    const app = await bed.sample({ baseUrl: service.url }, { logger });
    expect(await always(async () => (await app.get('/me', 'token')).status)).toBe(503);
    expect(logger.having('warn', 'auth_token')).toHaveLength(1);
    expect(logger.lines.join('\n')).not.toContain('another-token');
  });
});
