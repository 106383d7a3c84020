import { describe, expect } from '@jest/globals';
import { Controller, Get, Module, UseGuards, type DynamicModule, type Type } from '@nestjs/common';
import { SessionAuthGuard, SessionAuthModule } from 'nestjs-session-auth';
import { PLATFORMS, startApp } from '../support/platforms.js';
import { TOKEN } from '../support/trial/canaries.js';
import { HandlerRuns } from '../support/trial/faults-app.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN } from '../support/trial/trial.js';

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

describe.each(PLATFORMS)('two instances on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row('two modules whose base URL or key differs share nothing for one token: each asks once [G09]', async (trial) => {
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
      const imports = [part(One, OneController, trial.service.url, 'key'), part(Other, OtherController, url, key)];
      const { url: at } = trial.keep(await startApp(platform, { module: Both, imports }, { logger: trial.log }));
      for (const path of ['/one', '/other', '/one', '/other']) expect(await trial.status({ at, path })).toBe(200);
      expect(trial.calls() + second.callsTo('user_details') - before).toBe(2);
    }
  });
});
