import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, UseGuards, Req, type DynamicModule, type Type } from '@nestjs/common';
import {
  CurrentUser,
  SessionAuthGuard,
  SessionAuthModule,
  Roles,
  type UserRecord,
} from 'nestjs-session-auth';
import { always } from '../support/always.js';
import { platforms, startApp } from '../support/platforms.js';
import { hold, json, reply, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { cachingApp } from '../support/caching-app.js';
import { TOKEN } from '../support/trial/canaries.js';
import { HandlerRuns } from '../support/trial/faults-app.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN } from '../support/trial/trial.js';
import { MeController } from '../support/sample-app.js';

@Controller('hiring')
@UseGuards(SessionAuthGuard)
class HiringController {
  @Get()
  show(@CurrentUser('username') name: string | undefined): string | undefined {
    return name;
  }
}

@Controller('payroll')
@UseGuards(SessionAuthGuard)
class PayrollController {
  @Get()
  show(@CurrentUser('username') name: string | undefined): string | undefined {
    return name;
  }
}

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

function feature(module: Type, controller: Type, baseUrl: string, apiKey: string): DynamicModule {
  const cache = { ttlMs: 300_000 };
  return {
    module,
    imports: [SessionAuthModule.forRoot({ baseUrl, apiKey, cache, isGlobal: false })],
    controllers: [controller],
  };
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

  it.each(['base URL', 'key'])(
    'of two modules whose %s differs share nothing, in one application',
    async (differs) => {
      const first = await bed.service();
      const second = differs === 'base URL' ? await bed.service() : first;
      const byKey: Script = (request, ...rest) =>
        json({ username: `ann of ${String(request.headers['x-api-key'])}` })(request, ...rest);
      for (const service of [first, second]) service.on('user_details', byKey);
      const imports = [
        feature(Hiring, HiringController, first.url, 'key-1'),
        feature(Payroll, PayrollController, second.url, 'key-2'),
      ];
      const app = await bed.app({ module: Company, imports });
      const names: string[] = [];
      for (const path of ['/hiring', '/payroll', '/hiring', '/payroll'])
        names.push(await (await app.get(path, 'token')).text());

      expect(names).toEqual(['ann of key-1', 'ann of key-2', 'ann of key-1', 'ann of key-2']);
      expect(
        [...new Set([first, second])]
          .flatMap(({ requests }) => requests)
          .map(({ headers }) => headers['x-api-key']),
      ).toEqual(['key-1', 'key-2']);
    },
  );

  it('of two modules share no refusal either', async () => {
    const [first, second] = [await bed.service(), await bed.service()];
    second.signInAs({}, 'token');
    const imports = [
      feature(Hiring, HiringController, first.url, 'key'),
      feature(Payroll, PayrollController, second.url, 'key'),
    ];
    const app = await bed.app({ module: Company, imports });
    const statuses: number[] = [];
    for (const path of ['/hiring', '/payroll', '/hiring', '/payroll'])
      statuses.push((await app.get(path, 'token')).status);

    expect(statuses).toEqual([401, 200, 401, 200]);
    expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
  });

  it('of two modules whose keys differ share no call in flight either', async () => {
    const service = await bed.service();
    const held = hold(json({ username: 'ann' }));
    service.on('user_details', held.script);
    const imports = [
      feature(Hiring, HiringController, service.url, 'key-1'),
      feature(Payroll, PayrollController, service.url, 'key-2'),
    ];
    const app = await bed.app({ module: Company, imports });
    const asked = Promise.all([app.get('/hiring', 'token'), app.get('/payroll', 'token')]);
    await held.arrived;
    held.release();

    expect((await asked).map(({ status }) => status)).toEqual([200, 200]);
    expect(service.requests.map(({ headers }) => headers['x-api-key']).sort()).toEqual(['key-1', 'key-2']);
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

const CACHE = { cache: { ttlMs: 300_000 } };

@Controller('one')
@UseGuards(SessionAuthGuard)
class OneController {
  constructor(private readonly runs: HandlerRuns) {}
  @Get() show(): string {
    this.runs.count += 1;
    return 'in';
  }
}

@Controller('other')
@UseGuards(SessionAuthGuard)
class OtherController extends OneController {}

@Module({})
class One {}

@Module({})
class Other {}

@Module({})
class Both {}

describe.each(platforms('Fastify'))('two instances on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'two modules whose base URL or key differs share nothing for one token: each asks once [G09]',
    async (trial) => {
      const second = await trial.another();
      second.signInAs(ANN, TOKEN);
      const part = (module: Type, controller: Type, baseUrl: string, apiKey: string): DynamicModule => ({
        module,
        imports: [SessionAuthModule.forRoot({ baseUrl, apiKey, isGlobal: false, ...CACHE })],
        controllers: [controller],
        providers: [{ provide: HandlerRuns, useValue: trial.runs }],
      });
      for (const [url, key] of [
        [second.url, 'key'],
        [trial.service.url, 'another-key'],
      ] as const) {
        const before = trial.calls() + second.callsTo('user_details');
        const imports = [
          part(One, OneController, trial.service.url, 'key'),
          part(Other, OtherController, url, key),
        ];
        const { url: at } = trial.keep(
          await startApp(platform, { module: Both, imports }, { logger: trial.log }),
        );
        for (const path of ['/one', '/other', '/one', '/other'])
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

  @Get('replace')
  replace(@Req() request: Loose): string {
    request.user = { role: 'boss', ccl_info: { client_id: 1 } };
    return 'replaced';
  }

  @Get('boss')
  @Roles('boss')
  boss(): string {
    return 'in';
  }

  @Get('own-token')
  ownToken(@CurrentUser() user: UserRecord): string | undefined {
    return user.auth_token;
  }
}

const CLERK = { username: 'ann', role: 'clerk', ccl_info: { client_id: 7, company_id: 8 } };

describe.each(platforms('Fastify'))('the user that comes from the cache on %s', (_name, platform) => {
  const bed = testbed(platform);
  const controllers = [MeController, MutationController];

  it.each(['/change', '/replace'])(
    'is as the service returned it, although a handler tried to change it: %s',
    async (path) => {
      const { service, app, status, calls } = await cachingApp(bed, {}, { controllers });
      const token = service.signInAs(CLERK);
      for (let time = 0; time < 2; time += 1) {
        expect(await status(path, token)).toBe(200);
        expect(await (await app.get('/me', token)).json()).toEqual(CLERK);
      }

      expect(await always(() => status('/boss', token))).toBe(403);
      expect(await (await app.get('/own-token', token)).text()).toBe(token);
      expect(calls()).toBe(1);
    },
  );

  it('throws if a handler changes it, at the first request and from the cache', async () => {
    const { service, app } = await cachingApp(bed, {}, { controllers });
    const token = service.signInAs(CLERK);
    for (let time = 0; time < 2; time += 1)
      expect(await (await app.get('/change', token)).json()).toEqual(Array(9).fill('TypeError'));
  });
});
