import { describe, expect } from '@jest/globals';
import { Controller, Get, VersioningType } from '@nestjs/common';
import { Public } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { TOKEN } from '../support/trial/canaries.js';
import { FaultsController, HandlerRuns } from '../support/trial/faults-app.js';
import { rowsOn } from '../support/trial/row.js';

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

  row('a preflight gets no 200 where CORS is not enabled [K03]', async (trial) => {
    const preflight = { method: 'OPTIONS', token: null, iv: null, lines: PREFLIGHT };
    const { status, headers } = await trial.ask(preflight);
    expect([status, headers.has('access-control-allow-origin'), trial.calls()]).toEqual([404, false, 0]);
  });
});
