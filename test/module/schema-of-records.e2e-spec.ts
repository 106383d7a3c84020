import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Req, UseGuards } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsOptional } from 'class-validator';
import {
  Authorize,
  Roles,
  SessionAuthGuard,
  SessionAuthService,
  UserRecord,
  type UserRecordClass,
  type UserRecordSchema,
} from 'nestjs-session-auth';
import { z } from 'zod';
import { always } from '../support/always.js';
import { CapturedLog } from '../support/captured-log.js';
import { platforms } from '../support/platforms.js';
import { bootstrapError, sampleApp } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';

const userRecord = z.object({
  username: z.string().optional(),
  first_name: z.string().optional(),
  role: z.string().optional(),
  shift: z.enum(['day', 'night']),
  badge: z.object({ number: z.int() }).optional(),
  motto: z
    .string()
    .transform((text) => text.toUpperCase())
    .optional(),
});

type Employee = z.infer<typeof userRecord>;

@Controller()
@UseGuards(SessionAuthGuard)
class EmployeeController {
  @Get('employee')
  employee(@Req() { user }: { user: Employee & { auth_token?: string } }) {
    return { user, token: user.auth_token, frozen: Object.isFrozen(user) && Object.isFrozen(user.badge) };
  }

  @Get('night')
  @Roles('clerk')
  @Authorize((user) => (user as unknown as Employee).shift === 'night')
  night(): string {
    return 'night';
  }
}

const EVE = { username: 'eve', role: 'clerk', shift: 'night', badge: { number: 7 } };

describe.each(platforms('Express'))('records of a schema on %s', (_name, platform) => {
  const bed = testbed(platform);

  const start = async () => {
    const service = await bed.service();
    const log = new CapturedLog();
    const app = await bed.sample(
      { baseUrl: service.url, controllers: [EmployeeController], options: { userRecord } },
      { logger: log },
    );
    return { service, app, log };
  };

  it('reach request.user and rules with the fields of the description only, frozen, with a token that is not sent', async () => {
    const { service, app } = await start();
    const token = service.signInAs({
      ...EVE,
      first_name: null,
      salary: 1,
      motto: 'onward',
      badge: { number: 7, colour: 'red' },
    } as object);

    expect(await (await app.get('/employee', token)).json()).toEqual({
      user: { ...EVE, motto: 'ONWARD' },
      token,
      frozen: true,
    });
    expect(await app.app.get(SessionAuthService).verify(token)).toMatchObject({ motto: 'ONWARD' });
    const statusOf = (record: object) => {
      const other = service.signInAs(record);
      return always(async () => (await app.get('/night', other)).status);
    };
    expect(await statusOf(EVE)).toBe(200);
    expect(await statusOf({ ...EVE, shift: 'day' })).toBe(403);
    expect(await statusOf({ ...EVE, role: 'guest' })).toBe(403);
  });

  it('are unusable with an empty token, which is another one than was presented', async () => {
    const { service, app, log } = await start();
    const token = service.signInAs({ ...EVE, auth_token: '' });

    expect((await app.get('/employee', token)).status).toBe(503);
    expect(log.having('warn', 'token mismatch')).toHaveLength(1);
  });

  it.each([
    [{ badge: { number: 'secret' } }, 'badge.number'],
    [{ auth_token: 7 }, 'auth_token'],
  ])(
    'make the answer no user, which is logged once without value, user and token: %j',
    async (fields, named) => {
      const { service, app, log } = await start();
      const tokens = ['eve', 'bob'].map((username) =>
        service.signInAs({ ...EVE, username, ...fields } as object),
      );
      for (const token of tokens)
        expect(await always(async () => (await app.get('/employee', token)).status)).toBe(503);
      const lines = log.having('warn', 'invalid user record');
      expect(lines).toEqual([expect.stringContaining(named)]);
      expect(lines[0]).toContain(
        'Its user gets 503 while the session service answers so. Correct the record there, or map it: userRecord.',
      );
      for (const secret of ['secret', 'eve', 'bob', ...tokens])
        expect(log.lines.join('\n')).not.toContain(secret);
    },
  );
});

describe('what the application puts into a record', () => {
  class Branch {
    readonly opensAt = { hour: 8 };
  }
  const bed = testbed();
  const live = { branch: new Branch(), list: [{ floors: 2 }] };

  @Controller()
  @UseGuards(SessionAuthGuard)
  class LiveController {
    @Get('live')
    live(@Req() { user }: { user: typeof live }): unknown {
      const attempt = (change: () => unknown): unknown => {
        try {
          return change();
        } catch {
          return 'frozen';
        }
      };
      const { branch, list } = user;
      return [
        branch === live.branch,
        list === live.list,
        list[0]?.floors,
        attempt(() => list.push({ floors: 9 })),
        attempt(() => Object.assign(list[0] ?? {}, { floors: 9 })),
      ];
    }
  }

  class ByTransform extends UserRecord {
    @Transform(() => live.branch) @IsOptional() readonly branch?: Branch;
    @Transform(() => live.list) @IsOptional() readonly list?: object[];
  }
  const bySchema = z
    .object({ username: z.string().optional() })
    .transform((user) => ({ ...user, branch: live.branch, list: live.list }));

  it.each<[string, UserRecordClass | UserRecordSchema]>([
    ['a class', ByTransform],
    ['zod', bySchema],
  ])(
    'by %s stays as it is, and a handler can not change the next user by it [P67]',
    async (_kind, userRecord) => {
      const service = await bed.service();
      const options = { userRecord, cache: { ttlMs: 60_000 } };
      const app = await bed.sample({ baseUrl: service.url, controllers: [LiveController], options });
      const token = service.signInAs({ username: 'ann', branch: 'north', list: 'north' } as object);
      for (let request = 0; request < 2; request += 1)
        expect(await (await app.get('/live', token)).json()).toEqual([true, false, 2, 'frozen', 'frozen']);
      for (const each of [live.branch, live.branch.opensAt, live.list, live.list[0]])
        expect(Object.isFrozen(each)).toBe(false);
    },
  );

  it('may not contain itself, which the log line says [P67]', async () => {
    const tree: Record<string, unknown> = { floors: 2 };
    tree.children = [{ parent: tree }];
    const userRecord = z.object({ username: z.string().optional() }).transform((user) => ({ ...user, tree }));
    const service = await bed.service();
    const log = new CapturedLog();
    const app = await bed.sample({ baseUrl: service.url, options: { userRecord } }, { logger: log });
    const token = service.signInAs({ username: 'ann', tree: 'fir' } as object);
    expect((await app.get('/me', token)).status).toBe(503);
    const line = 'invalid user record: user_details answered 200, but tree must not contain itself.';
    expect(log.having('warn', line)).toHaveLength(1);
  });
});

describe('names of fields that are data', () => {
  const bed = testbed();

  it('are not in the log', async () => {
    const service = await bed.service();
    const log = new CapturedLog();
    const userRecord = z.object({ username: z.string() }).catchall(z.string());
    const app = await bed.sample({ baseUrl: service.url, options: { userRecord } }, { logger: log });
    for (const name of ['x\nwarn a line of its own', 'ann@example.com', 'y'.repeat(65)]) {
      const token = service.signInAs({ [name]: 7 });
      expect(await always(async () => (await app.get('/me', token)).status)).toBe(503);
    }
    expect(log.having('warn', 'invalid user record')).toEqual([
      expect.stringContaining(
        'invalid user record: user_details answered 200, but * must be what the schema says.',
      ),
    ]);
  });
});

describe('an application does not start with', () => {
  const throwing = z.object({}).transform((): { username?: string } => {
    throw new Error('the text');
  });
  const ofVersion2 = { '~standard': { version: 2, validate: () => ({ value: {} }) } };

  it.each([
    ['a schema that answers late', z.object({}).transform((user) => Promise.resolve(user)), 'answers later'],
    ['a schema that throws', throwing, 'throws an error'],
    [
      'another version of Standard Schema',
      ofVersion2,
      'a class that extends UserRecord, or a Standard Schema',
    ],
  ])('%s as userRecord', async (_what, userRecord, problem) => {
    const options = { userRecord: userRecord as UserRecordSchema };
    const error = await bootstrapError(sampleApp({ baseUrl: 'https://sessions.example.com', options }));
    expect(error.message).toContain(problem);
    expect(error.message).not.toContain('the text');
  });
});
