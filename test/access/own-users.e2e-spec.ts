import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, UseGuards, type ExecutionContext } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import {
  Authorize,
  CurrentUser,
  OptionalAuth,
  Roles,
  SessionAuthGuard,
  SessionRecord,
  UserRecord,
  type UserLoader,
} from 'nestjs-session-auth';
import { always } from '../support/always.js';
import { PLATFORMS } from '../support/platforms.js';
import { overGraphql, overHttp, startEveryKind, type Call, type EveryKind } from './every-kind.js';

/** The application's own user. */
class Staff {
  constructor(
    readonly id: number,
    readonly name: string,
  ) {}
}

const IDS = new Map([
  ['ann', 7],
  ['bob', 8],
]);
const loaded: string[] = [];

@Injectable()
class StaffLoader implements UserLoader<UserRecord, Staff> {
  async load({ username = '' }: UserRecord, context: ExecutionContext): Promise<Staff | undefined> {
    loaded.push(`${username} for ${context.getHandler().name}`);
    await Promise.resolve();
    const id = IDS.get(username);
    return id === undefined ? undefined : new Staff(id, username);
  }
}

const answer = (staff: unknown, { username, role }: UserRecord): string =>
  JSON.stringify([staff instanceof Staff && staff, username, role]);

/** The rule reads the record, the policy gets both. */
const ownsOpening = ({ username }: UserRecord, _context: ExecutionContext, staff: unknown): boolean =>
  staff instanceof Staff && staff.name === username && staff.id === 7;

@Controller()
@UseGuards(SessionAuthGuard)
class StaffController {
  @Get('me')
  @Roles('hiring_manager')
  @Authorize(ownsOpening)
  me(@CurrentUser() staff: unknown, @SessionRecord() record: UserRecord): string {
    return answer(staff, record);
  }

  @Get('optional') @OptionalAuth() optional(@CurrentUser() staff: unknown): unknown {
    return { staff };
  }
}

@Resolver()
class StaffResolver {
  @Query(() => String)
  @Roles('hiring_manager')
  @Authorize(ownsOpening)
  me(@CurrentUser() staff: unknown, @SessionRecord() record: UserRecord): string {
    return answer(staff, record);
  }
}

const ANN = '[{"id":7,"name":"ann"},"ann","hiring_manager"]';
const KINDS: [kind: string, call: Call, answer: unknown][] = [
  ['a controller', overHttp('/me'), ANN],
  ['a resolver', overGraphql('me again: me third: me'), [ANN, ANN, ANN]],
];

describe.each(PLATFORMS)("the application's own user on %s", (_name, platform) => {
  let every: EveryKind;
  const get = (path: string, token?: string): Promise<Response> => every.app.get(path, token);
  const signIn = (username: string, role = 'hiring_manager'): string =>
    every.service.signInAs({ username, role });

  beforeAll(async () => {
    every = await startEveryKind(platform, {
      options: { loadUser: StaffLoader },
      controllers: [StaffController],
      providers: [StaffResolver, StaffLoader],
    });
  });
  beforeEach(() => void loaded.splice(0));
  afterAll(() => every.close());

  it.each(KINDS)(
    'is loaded once for each request of %s: handlers get it, rules read the record, policies get both',
    async (_kind, call, expected) => {
      expect(await call(every, signIn('ann'))).toEqual(expected);
      expect(loaded.map((line) => line.split(' ')[0])).toEqual(['ann']);
      const [bob, eve] = [signIn('bob'), signIn('eve')];
      for (const token of [bob, eve])
        expect(await always(() => call(every, token))).toMatchObject({ statusCode: 403 });
    },
  );

  it('is not loaded for a caller whom a rule denies', async () => {
    const ann = signIn('ann', 'new_hire');
    expect(await always(async () => (await get('/me', ann)).status)).toBe(403);
    expect(loaded).toEqual([]);
  });

  it('is loaded on an optional handler for a caller with a session, who needs one', async () => {
    expect(await (await get('/optional')).json()).toEqual({});
    const staff = { id: 7, name: 'ann' };
    expect(await (await get('/optional', signIn('ann'))).json()).toEqual({ staff });
    const eve = signIn('eve');
    expect(await always(async () => (await get('/optional', eve)).status)).toBe(403);
  });
});
