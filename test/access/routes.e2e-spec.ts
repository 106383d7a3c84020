import { describe, expect, it } from '@jest/globals';
import { Controller, Get, VersioningType, type INestApplication } from '@nestjs/common';
import { Public } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { sendRaw } from '../support/raw-request.js';
import { MeController } from '../support/sample-app.js';
import { sharedSample } from '../support/shared-sample.js';
import { testbed } from '../support/testbed.js';
import { TOKEN } from '../support/trial/canaries.js';
import { FaultsController, HandlerRuns } from '../support/trial/faults-app.js';
import { rowsOn } from '../support/trial/row.js';
import type { Trial } from '../support/trial/trial.js';

let runs = 0;

@Controller({ path: 'reports', version: ['1', '2'] })
class ReportsController {
  @Get('all')
  all(): string {
    runs += 1;
    return 'all';
  }

  @Public()
  @Get('about')
  about(): string {
    return 'about';
  }
}

const byUri = (app: INestApplication): void => void app.enableVersioning({ type: VersioningType.URI });
const byHeader = (app: INestApplication): void =>
  void app.enableVersioning({ type: VersioningType.HEADER, header: 'x-version' });

describe.each(PLATFORMS)('the routes of a protected application on %s', (_name, platform) => {
  const bed = testbed(platform);
  const options = { protectAllRoutes: true };
  const controllers = [ReportsController, MeController];
  const shared = sharedSample({ options, controllers }, platform);

  it.each([
    '/reports/all',
    '/reports/all/',
    '//reports/all',
    '/reports//all',
    '/reports/%61ll',
    '/reports/all;x',
    '/REPORTS/ALL',
    '/reports/./all',
    '/reports/all?x=%00',
  ])('never run a handler for a stranger at %s, under GET or HEAD', async (path) => {
    runs = 0;
    const { service, app } = shared;

    for (const method of ['GET', 'HEAD']) {
      expect([400, 401, 404]).toContain((await sendRaw(app.url, { method, path })).status);
    }
    expect(runs).toBe(0);
    expect(service.requests).toHaveLength(0);
  });

  it('refuse a stranger at the plain path with 401', async () => {
    const { app } = shared;

    expect((await app.get('/reports/all')).status).toBe(401);
  });

  it.each([
    ['good', 200],
    ['bad', 401],
    [undefined, 401],
  ])('answer HEAD as they answer GET: token %p gets %p', async (token, status) => {
    const { service, app } = shared;
    service.signInAs({}, 'good');
    const headers = token === undefined ? {} : { 'x-auth-token': token };
    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => fetch(`${app.url}/me`, { method, headers })),
    );

    expect([get?.status, head?.status]).toEqual([status, status]);
    expect(head?.headers.get('www-authenticate')).toBe(get?.headers.get('www-authenticate'));
    expect(await head?.text()).toBe('');
  });

  it.each([
    ['/v1/reports/all', {}, byUri],
    ['/v2/reports/all', {}, byUri],
    ['/reports/all', { 'x-version': '1' }, byHeader],
    ['/reports/all', { 'x-version': '2' }, byHeader],
  ])('are protected in every version: %s %p', async (path, headers, configure) => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, options, controllers }, { configure });

    expect((await app.get(path, undefined, headers)).status).toBe(401);
    expect((await app.get(path, 'bad', headers)).status).toBe(401);
    expect((await app.get(path, service.signInAs({}), headers)).status).toBe(200);
    expect((await app.get(path.replace('all', 'about'), undefined, headers)).status).toBe(200);
  });

  const preflight = {
    origin: 'https://a.example',
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'x-auth-token',
  };

  it('answer a preflight with 204 and no call to the service, when CORS is enabled', async () => {
    const service = await bed.service();
    const app = await bed.sample(
      { baseUrl: service.url, options, controllers },
      { configure: (nest) => nest.enableCors() },
    );

    expect((await fetch(`${app.url}/me`, { method: 'OPTIONS', headers: preflight })).status).toBe(204);
    expect(service.requests).toHaveLength(0);
  });

  it('open nothing to a preflight when CORS is not enabled', async () => {
    const { service, app } = shared;
    const reply = await fetch(`${app.url}/me`, { method: 'OPTIONS', headers: preflight });

    expect(reply.headers.has('access-control-allow-origin')).toBe(false);
    expect(service.requests).toHaveLength(0);
  });
});

@Controller({ path: 'reports', version: '1' })
class CountedReportsController {
  constructor(private readonly runs: HandlerRuns) {}

  @Get('all')
  all(): string {
    this.runs.count += 1;
    return 'all';
  }
}

@Controller()
class MarkedController {
  @Get('open')
  @Public()
  open(): string {
    return 'open';
  }
}

const PATHS = ['/hm/', '//hm', '/%68m', '/hm;x', '/HM', '/./hm', '/hm?x=%00', '/hm#x'];
const PREFLIGHT = [
  'Origin: https://a.example',
  'Access-Control-Request-Method: GET',
  'Access-Control-Request-Headers: x-auth-token',
];

describe.each(PLATFORMS)('routes on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row('no spelling of a path runs a handler without its guard [K01]', async (trial) => {
    for (const method of ['GET', 'HEAD']) {
      for (const path of PATHS) {
        for (const token of [null, 'bad']) {
          expect([path, [400, 401, 404]]).toEqual([
            path,
            expect.arrayContaining([await trial.status({ method, path, token })]),
          ]);
        }
      }
    }
    expect(trial.runs.count).toBe(0);
  });

  row('HEAD gets the verdict of GET [K01]', async (trial) => {
    for (const token of [TOKEN, 'bad', null]) {
      const [get, head] = [await trial.ask({ token }), await trial.ask({ method: 'HEAD', token })];
      expect([head.status, head.headers.get('www-authenticate'), head.body]).toEqual([
        get.status,
        get.headers.get('www-authenticate'),
        '',
      ]);
    }
  });

  row(
    'every version of a route is guarded [K01]',
    async (trial) => {
      const statuses = [null, 'bad', TOKEN].map((token) => trial.status({ path: '/v1/reports/all', token }));
      expect(await Promise.all(statuses)).toEqual([401, 401, 200]);
    },
    {
      options: { protectAllRoutes: true },
      controllers: [CountedReportsController, FaultsController],
      configure: (app) => void app.enableVersioning({ type: VersioningType.URI }),
    },
  );

  row(
    'with the guard on the whole application only the marked routes are open [K02]',
    async (trial) => {
      const paths = ['/open', '/pub', '/reports/all', '/me'];
      expect(await Promise.all(paths.map((path) => trial.status({ path, token: null })))).toEqual([
        200, 401, 401, 401,
      ]);
      expect(trial.calls()).toBe(0);
    },
    {
      options: { protectAllRoutes: true },
      controllers: [MarkedController, CountedReportsController, FaultsController],
    },
  );

  async function preflight(trial: Trial): Promise<string> {
    const { status, headers } = await trial.ask({
      method: 'OPTIONS',
      token: null,
      iv: null,
      lines: PREFLIGHT,
    });
    expect(trial.calls()).toBe(0);
    return `${status} ${headers.get('access-control-allow-origin')}`;
  }

  row(
    'a preflight gets 204 without a call where CORS is enabled [K03]',
    async (trial) => expect(await preflight(trial)).toBe('204 *'),
    {
      configure: (app) => app.enableCors(),
    },
  );

  row('a preflight gets no 200 where CORS is not enabled [K03]', async (trial) => {
    expect(await preflight(trial)).toBe('404 null');
  });
});
