import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, UseGuards, type DynamicModule, type Type } from '@nestjs/common';
import { CurrentUser, SessionAuthGuard, SessionAuthModule, type UserRecord } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { hold, json } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

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
  show(@CurrentUser() user: UserRecord): string | undefined {
    return user.username;
  }
}

@Module({})
class Hiring {}

@Module({})
class Payroll {}

@Module({})
class Company {}

function feature(module: Type, controller: Type, baseUrl: string, apiKey: string): DynamicModule {
  return { module, imports: [SessionAuthModule.forRoot({ baseUrl, apiKey, isGlobal: false })], controllers: [controller] };
}

describe.each(PLATFORMS)('two session services in one application on %s', (_name, platform) => {
  const bed = testbed(platform);

  it('share nothing: each is asked about the same token, with its own key, and answers for its own routes', async () => {
    const [first, second] = [await bed.service(), await bed.service()];
    first.signInAs({ username: 'ann at hiring' }, 'token');
    second.signInAs({ username: 'ann at payroll' }, 'token');
    const imports = [feature(Hiring, HiringController, first.url, 'key-1'), feature(Payroll, PayrollController, second.url, 'key-2')];
    const app = await bed.app({ module: Company, imports });
    const [hiring, payroll] = await Promise.all([app.get('/hiring', 'token'), app.get('/payroll', 'token')]);

    expect([await hiring.text(), await payroll.text()]).toEqual(['ann at hiring', 'ann at payroll']);
    expect(first.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['key-1']);
    expect(second.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['key-2']);
  });

  it('share no call either, when only their keys differ', async () => {
    const service = await bed.service();
    const held = hold(json({ username: 'ann' }));
    service.on('user_details', held.script);
    const imports = [feature(Hiring, HiringController, service.url, 'key-1'), feature(Payroll, PayrollController, service.url, 'key-2')];
    const app = await bed.app({ module: Company, imports });
    const asked = Promise.all([app.get('/hiring', 'token'), app.get('/payroll', 'token')]);
    await held.arrived;
    held.release();

    expect((await asked).map(({ status }) => status)).toEqual([200, 200]);
    expect(service.requests.map(({ headers }) => headers['x-api-key']).sort()).toEqual(['key-1', 'key-2']);
  });

  it('do not answer for each other: what one refuses, the other may let in', async () => {
    const [first, second] = [await bed.service(), await bed.service()];
    second.signInAs({}, 'token');
    const imports = [feature(Hiring, HiringController, first.url, 'key-1'), feature(Payroll, PayrollController, second.url, 'key-2')];
    const app = await bed.app({ module: Company, imports });

    expect((await app.get('/hiring', 'token')).status).toBe(401);
    expect((await app.get('/payroll', 'token')).status).toBe(200);
  });
});
