import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, UseGuards, type DynamicModule, type Type } from '@nestjs/common';
import { SessionAuthGuard, SessionAuthModule } from 'nestjs-session-auth';
import { platforms, startApp } from '../support/platforms.js';
import { hold, json, reply, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
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
  runs: HandlerRuns,
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

  it('is several sessions: none is admitted or refused because of another', async () => {
    const { service, app, calls } = await cachingApp(bed);
    service.on('user_details', byIv);
    const answers: unknown[] = [];
    for (const iv of ['iv-1', 'iv-1', 'iv-2', 'iv-2', undefined, undefined, 'bad', 'bad', 'iv-1']) {
      const answer = await app.get('/me', 'token', iv === undefined ? {} : { 'x-auth-iv': iv });
      answers.push(answer.ok ? ((await answer.json()) as { username: string }).username : answer.status);
    }

    const users = ['iv-1', 'iv-1', 'iv-2', 'iv-2', 'undefined', 'undefined'].map((iv) => `ann under ${iv}`);
    expect(answers).toEqual([...users, 401, 401, users[0]]);
    expect(calls()).toBe(5);
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
        const asked = (): number => trial.calls() + second.callsTo('user_details');
        const before = asked();
        const company = companyOf(trial.service.url, other, trial.runs);
        const { url: at } = trial.keep(await startApp(platform, company, { logger: trial.log }));
        const ask = () => Promise.all(['/hiring', '/payroll'].map((path) => trial.status({ at, path })));
        const held = hold(json(ANN));
        trial.service.on('user_details', held.script);
        const first = ask();
        await until('each has asked', () => asked() - before === 2);
        held.release();
        expect([await first, await ask(), asked() - before]).toEqual([[200, 200], [200, 200], 2]);
      }
    },
  );
});
