import { describe, expect } from '@jest/globals';
import { Controller, Get, UseGuards } from '@nestjs/common';
import { Roles, SessionAuthGuard, SubRoles } from 'nestjs-session-auth';
import { InvalidConfigurationError } from 'nestjs-session-auth/errors';
import { json } from 'nestjs-session-auth/testing';
import { PLATFORMS } from '../support/platforms.js';
import { FaultsController, HandlerRuns } from '../support/trial/faults-app.js';
import { rowsOn } from '../support/trial/row.js';
import type { Trial } from '../support/trial/trial.js';

@Controller('class')
@UseGuards(SessionAuthGuard)
@Roles('boss')
class RolesController {
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

const controllers = [RolesController, FaultsController];

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

  row('a user without the role gets 403, and the reply does not name what was required [J01]', async (trial) => {
    const records = [{}, { role: null }, { role: '' }, { role: 'new_hire' }, { role: 'HIRING_MANAGER' }];
    expect(await statusesFor(trial, '/hm', records)).toEqual(records.map(() => 403));
    for (const { body } of trial.answers) expect(body).not.toContain('hiring_manager');
  });

  row(
    'the roles of a handler replace those of its class [J02]',
    async (trial) => expect(await statusesFor(trial, '/class/own', [{ role: 'clerk' }, { role: 'boss' }])).toEqual([200, 403]),
    { controllers },
  );

  row(
    'roles and sub-roles must both be met [J03]',
    async (trial) => {
      const [role, sub_role] = ['boss', 'approver'];
      expect(await statusesFor(trial, '/class/both', [{ role, sub_role }, { role }, { sub_role }, {}])).toEqual([200, 403, 403, 403]);
    },
    { controllers },
  );

  row('@Roles() and @SubRoles() without a name are an error before the application starts [J04]', async (trial) => {
    const nothing = [] as unknown as [string];
    for (const decorate of [() => Roles(...nothing), () => SubRoles(...nothing)]) {
      expect(decorate).toThrow(InvalidConfigurationError);
    }
    expect(await trial.status({ path: '/hm' })).toBe(200);
  });
});
