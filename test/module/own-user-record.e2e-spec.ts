import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Req, UseGuards } from '@nestjs/common';
import { Transform, Type } from 'class-transformer';
import { IsArray, IsIn, IsInt, IsOptional, IsString, ValidateBy, ValidateNested } from 'class-validator';
import { Authorize, SessionAuthGuard, UserRecord } from 'nestjs-session-auth';
import { platforms } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';
import { CapturedLog } from '../support/captured-log.js';

class Badge {
  @IsInt() readonly number!: number;
}

class Employee extends UserRecord {
  @IsOptional() @IsIn(['day', 'night']) readonly shift?: 'day' | 'night' | undefined;
  @IsOptional() @IsArray() @IsString({ each: true }) readonly skills?: readonly string[] | undefined;
  @IsOptional() @ValidateNested() @Type(() => Badge) readonly badge?: Badge | undefined;
  @IsOptional() @ValidateNested({ each: true }) @Type(() => Badge) readonly badges?:
    | readonly Badge[]
    | undefined;
}

class LoudEmployee extends Employee {
  @IsOptional()
  @IsString()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toUpperCase() : value))
  readonly motto?: string | undefined;
}

/** A validator that answers with a promise, although it was not declared asynchronous. */
const LateNo = (): PropertyDecorator =>
  ValidateBy({ name: 'lateNo', validator: { validate: () => Promise.resolve(false) } });

class DoubtfulEmployee extends Employee {
  @LateNo() readonly clearance?: string | undefined;
}

class DoubtfulLoudEmployee extends LoudEmployee {
  @LateNo() readonly clearance?: string | undefined;
}

@Controller()
@UseGuards(SessionAuthGuard)
class EmployeeController {
  @Get('employee')
  employee(@Req() { user }: { user: Employee }) {
    return {
      user,
      isEmployee: user instanceof Employee,
      badge: user.badge instanceof Badge,
      token: user.auth_token,
    };
  }

  @Get('night')
  @Authorize((user: Employee) => user.shift === 'night')
  night(): string {
    return 'night';
  }

  @Get('frozen')
  frozen(@Req() { user }: { user: Employee }) {
    return [user, user.skills, user.badge, user.badges, user.badges?.[0]].map((part) =>
      Object.isFrozen(part),
    );
  }
}

const EVE = {
  username: 'eve',
  shift: 'night',
  skills: ['go'],
  badge: { number: 7 },
  badges: [{ number: 8 }],
};

describe.each(platforms('Express'))("the application's own record class on %s", (_name, platform) => {
  const bed = testbed(platform);
  const controllers = [EmployeeController];

  it.each([[Employee], [LoudEmployee]])(
    'reaches request.user with its own fields: %p',
    async (userRecord) => {
      const service = await bed.service();
      const app = await bed.sample({ baseUrl: service.url, controllers, options: { userRecord } });
      const token = service.signInAs({ ...EVE, salary: 1, badge: { number: 7, colour: 'red' } } as object);

      expect(await (await app.get('/employee', token)).json()).toEqual({
        user: EVE,
        isEmployee: true,
        badge: true,
        token,
      });
      expect((await app.get('/night', token)).status).toBe(200);
      expect((await app.get('/night', service.signInAs({ shift: 'day' } as object))).status).toBe(403);
      expect(await (await app.get('/frozen', token)).json()).toEqual(Array(5).fill(true));
    },
  );

  it.each([{ badges: [{ number: 8 }, null] }, { first_name: 7 }])(
    'makes an answer with a wrong field no user: %j',
    async (record) => {
      const service = await bed.service();

      for (const userRecord of [Employee, LoudEmployee]) {
        const app = await bed.sample({ baseUrl: service.url, controllers, options: { userRecord } });
        expect((await app.get('/employee', service.signInAs(record as object))).status).toBe(503);
      }
    },
  );

  it.each([[DoubtfulEmployee], [DoubtfulLoudEmployee]])(
    'admits no user before its validators have accepted the record: %p',
    async (userRecord) => {
      const service = await bed.service();
      const app = await bed.sample({ baseUrl: service.url, controllers, options: { userRecord } });

      expect(
        (await app.get('/employee', service.signInAs({ ...EVE, clearance: 'top' } as object))).status,
      ).toBe(503);
    },
  );

  it.each([
    [['username', 'client_name'], { username: '', client_name: 'acme' }, 200],
    [['username', 'client_name'], { username: '', email: 'eve@a.example' }, 503],
  ])('may have identity fields of its own: %p %j', async (identityFields, record, status) => {
    const service = await bed.service();
    const options = { userRecord: Employee, identityFields: identityFields as ['username'] };
    const app = await bed.sample({ baseUrl: service.url, controllers, options });

    expect((await app.get('/employee', service.signInAs(record as object))).status).toBe(status);
  });
});

const ThrowingValidator = (): PropertyDecorator =>
  ValidateBy({
    name: 'throwing',
    validator: {
      validate: (value) => {
        throw new TypeError(String(value));
      },
    },
  });

class Shifted extends UserRecord {
  @IsOptional() @IsIn(['day', 'night']) readonly shift?: 'day' | 'night' | undefined;
  @IsOptional() @ThrowingValidator() readonly team?: string | undefined;
}

const WARNING = 'invalid user record';
const REMEDY =
  'Its user gets 503 while the session service answers so. Correct the record there, or map it: userRecord.';

describe.each(platforms('Express'))('a user record that is invalid, on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function start() {
    const service = await bed.service();
    const log = new CapturedLog();
    const app = await bed.sample({ baseUrl: service.url, options: { userRecord: Shifted } }, { logger: log });
    const warnings = (): string[] => log.having('warn', WARNING);
    return { service, app, log, warnings };
  }

  it('is answered with 503, and the log names the field and its rule once, without value, user and token', async () => {
    const { service, app, log, warnings } = await start();
    const tokens = ['ann', 'bob'].map((username) =>
      service.signInAs({ username, ccl_info: { client_id: 'the value' } } as object),
    );

    for (const token of [...tokens, ...tokens]) expect((await app.get('/me', token)).status).toBe(503);
    expect(warnings()).toEqual([
      `warn ${WARNING}: user_details answered 200, but ccl_info.client_id must satisfy isSafeInteger. ${REMEDY} SessionAuth`,
    ]);
    for (const secret of ['the value', 'ann', 'bob', ...tokens])
      expect(log.lines.join('\n')).not.toContain(secret);
  });

  it('is logged if a validator throws, without the text of its error', async () => {
    const { service, app, warnings } = await start();

    expect((await app.get('/me', service.signInAs({ team: 'the value' } as object))).status).toBe(503);
    expect(warnings()).toEqual([
      `warn ${WARNING}: user_details answered 200, but the record must not make a validator or a transformation of Shifted throw an error, or answer later. ${REMEDY} SessionAuth`,
    ]);
  });
});
