import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, UseGuards, Req, type DynamicModule, type Type } from '@nestjs/common';
import { SessionAuthGuard, SessionAuthModule } from 'nestjs-session-auth';
import { platforms, startApp } from '../support/platforms.js';
import { hold, json, reply, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { cachingApp } from '../support/caching-app.js';
import { TOKEN } from '../support/trial/canaries.js';
import { HandlerRuns } from '../support/trial/faults-app.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN } from '../support/trial/trial.js';

@Controller('hiring')
@UseGuards(SessionAuthGuard)
class HiringController {
  constructor(private readonly runs: HandlerRuns) {}

  @Get()
  show(): string {
    this.runs.count += 1;
    return 'in';
  }
}

@Controller('payroll')
@UseGuards(SessionAuthGuard)
class PayrollController extends HiringController {}

@Module({})
class Hiring {}

@Module({})
class Payroll {}

@Module({})
class Company {}

/** Names the user after the IV, and refuses `bad`. */
const byIv: Script = (request, ...rest) => {
  const iv = request.headers['x-auth-iv'];
  const answer = iv === 'bad' ? reply(401) : json({ username: `ann under ${String(iv)}` });
  answer(request, ...rest);
};

/** Two modules of one application: hiring, and payroll with another base URL or key. */
function companyOf(
  baseUrl: string,
  other: { readonly baseUrl: string; readonly apiKey: string },
  runs = new HandlerRuns(),
): DynamicModule {
  const part = (module: Type, controller: Type, service: typeof other): DynamicModule => ({
    module,
    imports: [SessionAuthModule.forRoot({ ...service, isGlobal: false, cache: { ttlMs: 300_000 } })],
    controllers: [controller],
    providers: [{ provide: HandlerRuns, useValue: runs }],
  });
  const imports = [
    part(Hiring, HiringController, { baseUrl, apiKey: 'key' }),
    part(Payroll, PayrollController, other),
  ];
  return { module: Company, imports };
}

describe.each(platforms('Fastify'))('one token under several IVs on %s', (_name, platform) => {
  const bed = testbed(platform);

  it('is several sessions: none uses the cache entry of another', async () => {
    const { service, app, calls } = await cachingApp(bed);
    service.on('user_details', byIv);
    const names: unknown[] = [];
    for (const iv of ['iv-1', 'iv-2', undefined]) {
      const headers: Record<string, string> = iv === undefined ? {} : { 'x-auth-iv': iv };
      for (let time = 0; time < 2; time += 1)
        names.push(
          ((await (await app.get('/me', 'token', headers)).json()) as { username: string }).username,
        );
    }

    expect(names).toEqual(
      ['iv-1', 'iv-1', 'iv-2', 'iv-2', 'undefined', 'undefined'].map((iv) => `ann under ${iv}`),
    );
    expect(calls()).toBe(3);
  });

  it('is neither admitted nor refused because of its result under another', async () => {
    const { service, status, calls } = await cachingApp(bed);
    service.on('user_details', byIv);
    const statuses: number[] = [];
    for (const iv of ['iv-1', 'bad', 'bad', 'iv-1'])
      statuses.push(await status('/me', 'token', { 'x-auth-iv': iv }));

    expect(statuses).toEqual([200, 401, 401, 200]);
    expect(calls()).toBe(3);
  });

  it('is one session with `forwardAuthIv: false`', async () => {
    const { service, status, calls } = await cachingApp(bed, {}, { options: { forwardAuthIv: false } });
    const token = service.signInAs({});
    for (const iv of ['iv-1', 'iv-2']) expect(await status('/me', token, { 'x-auth-iv': iv })).toBe(200);

    expect(calls()).toBe(1);
  });
});

describe.each(platforms('Fastify'))('session caches on %s', (_name, platform) => {
  const bed = testbed(platform);

  it('of two modules whose keys differ share no call in flight', async () => {
    const service = await bed.service();
    const held = hold(json({ username: 'ann' }));
    service.on('user_details', held.script);
    const app = await bed.app(companyOf(service.url, { baseUrl: service.url, apiKey: 'another-key' }));
    const asked = Promise.all([app.get('/hiring', 'token'), app.get('/payroll', 'token')]);
    await held.arrived;
    held.release();

    expect((await asked).map(({ status }) => status)).toEqual([200, 200]);
    expect(service.requests.map(({ headers }) => headers['x-api-key']).sort()).toEqual([
      'another-key',
      'key',
    ]);
  });

  it('of two applications in one process share nothing', async () => {
    const [first, second] = [await cachingApp(bed), await cachingApp(bed)];
    second.service.signInAs({}, 'token');

    for (let time = 0; time < 2; time += 1) {
      expect([await first.status('/me', 'token'), await second.status('/me', 'token')]).toEqual([401, 200]);
    }
    expect([first.calls(), second.calls()]).toEqual([1, 1]);
  });
});

describe.each(platforms('Fastify'))('two instances on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'two modules whose base URL or key differs share nothing for one token: each asks once [G09]',
    async (trial) => {
      const second = await trial.another();
      second.signInAs(ANN, TOKEN);
      for (const other of [
        { baseUrl: second.url, apiKey: 'key' },
        { baseUrl: trial.service.url, apiKey: 'another-key' },
      ]) {
        const before = trial.calls() + second.callsTo('user_details');
        const company = companyOf(trial.service.url, other, trial.runs);
        const { url: at } = trial.keep(await startApp(platform, company, { logger: trial.log }));
        for (const path of ['/hiring', '/payroll', '/hiring', '/payroll'])
          expect(await trial.status({ at, path })).toBe(200);
        expect(trial.calls() + second.callsTo('user_details') - before).toBe(2);
      }
    },
  );
});

interface Loose {
  user: Record<string, unknown> & { ccl_info: Record<string, unknown> };
}

function failures(...changes: (() => unknown)[]): string[] {
  return changes.map((change) => {
    try {
      change();
      return 'done';
    } catch (error) {
      return (error as Error).constructor.name;
    }
  });
}

@Controller()
@UseGuards(SessionAuthGuard)
class MutationController {
  @Get('change')
  change(@Req() { user }: Loose): string[] {
    return failures(
      () => (user.role = 'boss'),
      () => (user.ccl_info.client_id = 1),
      () => (user.ccl_info.extra = 1),
      () => (user.extra = true),
      () => delete user.role,
      () => delete user.ccl_info.client_id,
      () => Object.assign(user.ccl_info, { client_id: 1 }),
      () => Object.defineProperty(user, 'auth_token', { value: 'other' }),
      () => Object.setPrototypeOf(user.ccl_info, { client_id: 1 }) as unknown,
    );
  }
}

const CLERK = { username: 'ann', role: 'clerk', ccl_info: { client_id: 7, company_id: 8 } };

describe.each(platforms('Fastify'))('the user that comes from the cache on %s', (_name, platform) => {
  const bed = testbed(platform);
  const controllers = [MutationController];

  it('throws if a handler changes it, at the first request and from the cache', async () => {
    const { service, app } = await cachingApp(bed, {}, { controllers });
    const token = service.signInAs(CLERK);
    for (let time = 0; time < 2; time += 1)
      expect(await (await app.get('/change', token)).json()).toEqual(Array(9).fill('TypeError'));
  });
});
