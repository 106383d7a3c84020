import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards } from '@nestjs/common';
import { Roles, SessionAuthGuard, SubRoles, UserRecord } from 'nestjs-session-auth';
import { InvalidConfigurationError } from 'nestjs-session-auth/errors';
import { Transform } from 'class-transformer';
import { IsOptional, IsString } from 'class-validator';
import { PLATFORMS } from '../support/platforms.js';
import { reply, json } from '../support/scripted-service.js';
import { sharedSample } from '../support/shared-sample.js';
import { testbed } from '../support/testbed.js';
import { FaultsController, HandlerRuns } from '../support/trial/faults-app.js';
import { rowsOn } from '../support/trial/row.js';
import type { Trial } from '../support/trial/trial.js';

@Controller()
@UseGuards(SessionAuthGuard)
@Roles('boss', 'admin')
class RolesController {
  @Get('class')
  ofClass(): string {
    return 'in';
  }

  @Get('handler')
  @Roles('clerk')
  ofHandler(): string {
    return 'in';
  }

  @Get('both')
  @SubRoles('approver', 'recruiter')
  both(): string {
    return 'in';
  }

  @Get('sub')
  @Roles('clerk')
  @SubRoles('approver')
  clerksThatApprove(): string {
    return 'in';
  }
}

class ShoutingRecord extends UserRecord {
  @IsOptional()
  @IsString()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toUpperCase() : value))
  readonly motto?: string | undefined;
}

describe.each(PLATFORMS)('@Roles and @SubRoles on %s', (_name, platform) => {
  const bed = testbed(platform);
  const controllers = [RolesController];
  const shared = sharedSample({ controllers }, platform);

  it.each([
    ['/class', { role: 'boss' }, 200],
    ['/class', { role: 'admin' }, 200],
    ['/class', {}, 403],
    ['/class', { role: null }, 403],
    ['/class', { role: '' }, 403],
    ['/class', { role: 'Boss' }, 403],
    ['/class', { role: 'BOSS' }, 403],
    ['/class', { role: 'boss ' }, 403],
    ['/class', { role: ' boss' }, 403],
    ['/class', { role: 'bos' }, 403],
    ['/class', { role: 'boss,admin' }, 403],
    ['/class', { role: 'bo\u017f\u017f' }, 403],
    ['/class', { sub_role: 'boss' }, 403],
    ['/class', { role: 'clerk' }, 403],
    ['/class', { role: 'undefined' }, 403],
    ['/class', { role: 'constructor' }, 403],
    ['/handler', { role: 'clerk' }, 200],
    ['/handler', { role: 'boss' }, 403],
    ['/both', { role: 'boss', sub_role: 'recruiter' }, 200],
    ['/both', { role: 'boss' }, 403],
    ['/both', { sub_role: 'recruiter' }, 403],
    ['/both', { role: 'clerk', sub_role: 'recruiter' }, 403],
    ['/both', { role: 'boss', sub_role: 'Recruiter' }, 403],
    ['/sub', { role: 'clerk', sub_role: 'approver' }, 200],
    ['/sub', { role: 'clerk', sub_role: 'recruiter' }, 403],
    ['/sub', { role: 'boss', sub_role: 'approver' }, 403],
  ])('answer %s for %j with %p', async (path, record, status) => {
    const { service, app } = shared;

    expect((await app.get(path, service.signInAs(record))).status).toBe(status);
  });

  it.each([[['boss']], [{ 0: 'boss' }], [7], [true]])(
    'take no role of another type: %j is an unusable answer',
    async (role) => {
      const { service, app } = shared;

      expect((await app.get('/class', service.signInAs({ role } as object))).status).toBe(503);
    },
  );

  it.each([[undefined], [ShoutingRecord]])(
    'take no role from a prototype that the answer brings along (record class %p)',
    async (userRecord) => {
      const service = await bed.service();
      service.on(
        'user_details',
        reply(
          200,
          '{"__proto__":{"role":"admin"},"constructor":{"prototype":{"role":"admin"}},"username":"a"}',
        ),
      );
      const app = await bed.sample({
        baseUrl: service.url,
        controllers,
        options: userRecord ? { userRecord } : {},
      });

      expect((await app.get('/class', 'token')).status).toBe(403);
      expect(({} as { role?: unknown }).role).toBeUndefined();
    },
  );

  it('do not reveal the required role', async () => {
    const { service, app } = shared;
    const refusal = await app.get('/sub', service.signInAs({ role: 'new_hire' }));

    expect(await refusal.json()).toEqual({
      statusCode: 403,
      code: 'ACCESS_DENIED',
      error: 'Forbidden',
      message: 'Access is denied',
    });
    expect(refusal.headers.has('www-authenticate')).toBe(false);
    expect([...refusal.headers].join()).not.toMatch(/clerk|approver|new_hire/);
  });

  it('read the role of every request again', async () => {
    const { service, app } = shared;
    service.signInAs({ role: 'boss' }, 'token');
    expect((await app.get('/class', 'token')).status).toBe(200);

    service.signInAs({ role: 'clerk' }, 'token');
    expect((await app.get('/class', 'token')).status).toBe(403);
  });
});

describe('@Roles and @SubRoles without a usable name', () => {
  const loose = { Roles, SubRoles } as unknown as Record<string, (...names: unknown[]) => unknown>;

  it.each([
    [[]],
    [['']],
    [['boss', '']],
    [[undefined]],
    [[null]],
    [[7]],
    [[[]]],
    [[['']]],
    [[['boss', 7]]],
    [[[['boss']]]],
  ])('are an error at once: %j', (names) => {
    for (const decorator of ['Roles', 'SubRoles']) {
      expect(() => loose[decorator]?.(...names)).toThrow(InvalidConfigurationError);
      expect(() => loose[decorator]?.(...names)).toThrow(new RegExp(`@${decorator}\\(\\)`));
    }
  });
});

@Controller('class')
@UseGuards(SessionAuthGuard)
@Roles('boss')
class CountedRolesController {
  constructor(private readonly runs: HandlerRuns) {}

  @Get('own')
  @Roles('clerk')
  own(): string {
    this.runs.count += 1;
    return 'in';
  }

  @Get('both')
  @SubRoles('approver')
  both(): string {
    this.runs.count += 1;
    return 'in';
  }
}

const controllers = [CountedRolesController, FaultsController];

describe.each(PLATFORMS)('roles on %s', (_name, platform) => {
  const row = rowsOn(platform);

  async function statusesFor(trial: Trial, path: string, records: readonly object[]): Promise<number[]> {
    const statuses: number[] = [];
    for (const record of records) {
      trial.service.on('user_details', json({ username: 'ann', ...record }));
      statuses.push(await trial.status({ path }));
    }
    return statuses;
  }

  row(
    'a user without the role gets 403, and the reply does not name the required role [J01]',
    async (trial) => {
      const records = [{}, { role: null }, { role: '' }, { role: 'new_hire' }, { role: 'HIRING_MANAGER' }];
      expect(await statusesFor(trial, '/hm', records)).toEqual(records.map(() => 403));
      for (const { body } of trial.answers) expect(body).not.toContain('hiring_manager');
    },
  );

  row(
    'the roles of a handler replace those of its class [J02]',
    async (trial) =>
      expect(await statusesFor(trial, '/class/own', [{ role: 'clerk' }, { role: 'boss' }])).toEqual([
        200, 403,
      ]),
    { controllers },
  );

  row(
    'roles and sub-roles must both be met [J03]',
    async (trial) => {
      const [role, sub_role] = ['boss', 'approver'];
      expect(
        await statusesFor(trial, '/class/both', [{ role, sub_role }, { role }, { sub_role }, {}]),
      ).toEqual([200, 403, 403, 403]);
    },
    { controllers },
  );

  row(
    '@Roles() and @SubRoles() without a name are an error before the application starts [J04]',
    async (trial) => {
      const nothing = [] as unknown as [string];
      for (const decorate of [() => Roles(...nothing), () => SubRoles(...nothing)]) {
        expect(decorate).toThrow(InvalidConfigurationError);
      }
      expect(await trial.status({ path: '/hm' })).toBe(200);
    },
  );
});
