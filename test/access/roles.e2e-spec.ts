import { describe, expect } from '@jest/globals';
import { Controller, Get, UseGuards } from '@nestjs/common';
import { Roles, SessionAuthGuard, SubRoles } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { json } from '../support/scripted-service.js';
import { FaultsController, HandlerRuns } from '../support/trial/faults-app.js';
import { rowsOn } from '../support/trial/row.js';
import type { Trial } from '../support/trial/trial.js';

@Controller('class')
@UseGuards(SessionAuthGuard)
@Roles('boss')
class CountedRolesController {
  constructor(private readonly runs: HandlerRuns) {}

  @Get('own') @Roles('clerk') own(): string {
    this.runs.count += 1;
    return 'in';
  }

  @Get('both') @SubRoles('approver') both(): string {
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
      const texts = ['', 'new_hire', 'HIRING_MANAGER', 'hiring_manage', 'hiring_manager '];
      const others = ['hiring_manager,boss', 'h\u0131ring_manager', 'undefined', 'constructor'];
      const records = [null, undefined, ...texts, ...others].map((role) => ({ role }));
      const wrongField = { sub_role: 'hiring_manager' };
      expect(await statusesFor(trial, '/hm', [...records, wrongField])).toEqual(Array(12).fill(403));
      for (const { body } of trial.answers)
        expect(JSON.parse(body)).toEqual({
          statusCode: 403,
          code: 'ACCESS_DENIED',
          error: 'Forbidden',
          message: 'Access is denied',
        });
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
        await statusesFor(trial, '/class/both', [
          { role, sub_role },
          { role },
          { sub_role },
          { role, sub_role: 'Approver' },
        ]),
      ).toEqual([200, 403, 403, 403]);
    },
    { controllers },
  );
});
