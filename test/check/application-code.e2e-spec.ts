import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, type ExecutionContext } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsOptional, ValidateBy } from 'class-validator';
import {
  Authorize,
  CurrentUser,
  SessionAuthEvents,
  SessionAuthService,
  UserRecord,
  type AuthorizationPolicy,
  type SessionAuthOptions,
  type UserLoader,
  type UserRecordSchema,
} from 'nestjs-session-auth';
import { z } from 'zod';
import { MemoryServer, MemoryStore } from '../fleet/memory-store.js';
import { CapturedLog } from '../support/captured-log.js';
import { PLATFORMS } from '../support/platforms.js';
import { testbed, type Testbed } from '../support/testbed.js';
import { until } from '../support/until.js';

/** Time for a check. Those that never settle use it up. */
const TIMEOUT_MS = 400;
const LATE_MS = 2 * TIMEOUT_MS;

const broken = (): Error => new Error('broken: a secret');
const raise = (): never => {
  throw broken();
};
let late = 0;

/** What code of the application may do in place of its work. */
const MISBEHAVIOURS = {
  throws: raise,
  rejects: () => Promise.reject(broken()),
  'rejects late': () => {
    late += 1;
    return delay(LATE_MS).then(() => {
      late -= 1;
      return raise();
    });
  },
  'returns a thenable that throws': () => ({ then: raise }),
  'returns a thenable that rejects': () => ({
    then: (_done: unknown, fail: (error: Error) => void) => fail(broken()),
  }),
  'returns an object whose then throws': () =>
    Object.defineProperty({}, 'then', { enumerable: true, get: raise }),
  'never settles': () => new Promise(() => undefined),
} satisfies Record<string, () => unknown>;

const TIMED: ReadonlySet<string> = new Set(['rejects late', 'never settles']);

/** Set during a row: the code of the application does this. */
let misbehaves: (() => unknown) | undefined;
const orElse = <Value>(value: Value): Value => (misbehaves ? (misbehaves() as Value) : value);

class ByValidator extends UserRecord {
  @IsOptional()
  @ValidateBy({ name: 'own', validator: { validate: () => orElse(true) } })
  readonly badge?: unknown;
}

class ByTransform extends UserRecord {
  @IsOptional()
  @Transform(({ value }: { readonly value: unknown }) => orElse(value))
  readonly badge?: unknown;
}

const ownSchema = {
  '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => orElse({ value }) },
} as UserRecordSchema;

const byZod = z.object({
  username: z.string().optional(),
  badge: z
    .string()
    .transform((badge) => orElse(badge))
    .optional(),
});

@Injectable()
class OwnPolicy implements AuthorizationPolicy {
  allows(): boolean {
    return orElse(true);
  }
}

@Injectable()
class OwnLoader implements UserLoader<UserRecord, UserRecord> {
  load(record: UserRecord): UserRecord {
    return orElse(record);
  }
}

@Controller()
class ThingsController {
  @Get('plain') @Authorize(() => true) plain(@CurrentUser() user: unknown): unknown {
    return typeof user;
  }

  @Get('function') @Authorize(() => orElse(true)) byFunction(): string {
    return 'in';
  }

  @Get('policy') @Authorize(OwnPolicy) byPolicy(): string {
    return 'in';
  }
}

interface Place {
  readonly options?: () => Partial<SessionAuthOptions>;
  readonly path?: string;
  readonly status: number;
  /** In the one line of the log. */
  readonly logged: RegExp | undefined;
  readonly without?: readonly string[];
  /** Whether a process that was busy does not know that the code was slow: then no line is right too. */
  readonly isTimed?: true;
  /** The value of another type, and its outcome. */
  readonly other: readonly [value: unknown, status: number, logged: RegExp | undefined];
}

const record = (userRecord: unknown): (() => Partial<SessionAuthOptions>) => {
  return () => ({ userRecord: userRecord as typeof UserRecord });
};
const RECORD = /invalid user record/;
const RULE = /rule failed: .* (failed with Error|took longer than timeoutMs)/;

const storeThat = (): MemoryStore => {
  const store = new MemoryStore(new MemoryServer());
  for (const name of ['get', 'set', 'delete', 'setTombstone', 'getRevocations', 'publish'] as const) {
    const own = (store[name] as (...given: unknown[]) => unknown).bind(store);
    Object.assign(store, { [name]: (...given: unknown[]) => (misbehaves ? misbehaves() : own(...given)) });
  }
  return store;
};

const PLACES: Record<string, Place> = {
  'a schema of the application': {
    options: record(ownSchema),
    status: 503,
    logged: RECORD,
    other: [42, 503, RECORD],
  },
  'a transformation of zod': {
    options: record(byZod),
    status: 503,
    logged: RECORD,
    // zod calls the transformation, and drops its promise, before it answers with another one.
    without: ['rejects', 'rejects late'],
    other: [42, 200, undefined],
  },
  'a validator of class-validator': {
    options: record(ByValidator),
    status: 503,
    logged: RECORD,
    other: [0, 503, RECORD],
  },
  'a transformation of class-transformer': {
    options: record(ByTransform),
    status: 503,
    logged: RECORD,
    other: [42, 200, undefined],
  },
  'the function apiKey': {
    options: () => ({ apiKey: () => orElse('key') }),
    status: 503,
    logged: /no key|service too slow/,
    other: [42, 503, /no key/],
  },
  'the function loadUser': {
    options: () => ({ loadUser: (user: UserRecord) => orElse(user) }),
    status: 503,
    logged: RULE,
    other: [false, 403, /loadUser returned false/],
  },
  'the class loadUser': {
    options: () => ({ loadUser: OwnLoader }),
    status: 503,
    logged: RULE,
    other: ['', 403, undefined],
  },
  'a function of @Authorize()': {
    path: '/function',
    status: 503,
    logged: RULE,
    other: [1, 403, undefined],
  },
  'a policy of @Authorize()': {
    path: '/policy',
    status: 503,
    logged: RULE,
    other: ['true', 403, undefined],
  },
  'a token source': {
    options: () => ({
      token: (context: ExecutionContext) =>
        orElse(context.switchToHttp().getRequest<{ headers: Record<string, string> }>().headers['x-own']),
    }),
    status: 401,
    logged: undefined,
    other: [42, 401, undefined],
  },
  'a store': {
    options: () => ({ cache: { ttlMs: 60_000, store: storeThat() } }),
    status: 200,
    logged: /session store unavailable/,
    isTimed: true,
    other: [42, 200, /session store unavailable/],
  },
};

describe.each(PLATFORMS)('code of the application, on %s: when', (_platform, platform) => {
  const bed = testbed(platform);
  const escaped: unknown[] = [];
  const note = (error: unknown): void => void escaped.push(error);
  beforeAll(() => void process.on('unhandledRejection', note).on('uncaughtException', note));
  afterAll(async () => {
    await until('the late rejections', () => late === 0);
    await delay(1);
    process.off('unhandledRejection', note).off('uncaughtException', note);
    expect(escaped).toEqual([]);
  });

  it.each(Object.entries(PLACES))(
    '%s throws, rejects, answers late or never, its caller gets the documented answer, and one line is logged [P60] [P69] [P76]',
    async (_name, place) => {
      const seen: Record<string, unknown> = {};
      const expected: Record<string, unknown> = {};
      const all = Object.entries({ ...MISBEHAVIOURS, 'returns another type': () => place.other[0] });
      const rows = all.filter(([how]) => !place.without?.includes(how));
      for (const [how, misbehaviour] of rows) {
        const outcome = await outcomeOf(bed, place, misbehaviour);
        seen[how] = outcome;
        const maySayNothing = place.isTimed && outcome[1].length === 0 && TIMED.has(how);
        const [status, logged] =
          how === 'returns another type' ? [place.other[1], place.other[2]] : [place.status, place.logged];
        expected[how] = [status, logged && !maySayNothing ? [expect.stringMatching(logged)] : [], 200];
      }
      expect(seen).toEqual(expected);
      expect(escaped).toEqual([]);
    },
    60_000,
  );

  it.each<[string, (events: SessionAuthEvents, fail: () => void) => void]>([
    ['ended$', ({ ended$ }, fail) => ended$.subscribe(fail)],
    ['forgottenUsers$', ({ forgottenUsers$ }, fail) => forgottenUsers$.subscribe(fail)],
    ['serviceState$', ({ serviceState$ }, fail) => serviceState$.subscribe(fail)],
    ['decisions$', ({ decisions$ }, fail) => decisions$.subscribe(fail)],
  ])('a subscriber of %s fails in any way, one line is logged [P60]', async (_name, subscribe) => {
    for (const fail of [
      raise,
      MISBEHAVIOURS.rejects,
      MISBEHAVIOURS['returns a thenable that rejects'],
    ] as (() => void)[]) {
      const [service, logger] = [await bed.service(), new CapturedLog()];
      const app = await bed.sample({ baseUrl: service.url, controllers: [ThingsController] }, { logger });
      subscribe(app.app.get(SessionAuthEvents), fail);
      const token = service.signInAs({ username: 'ann' });
      expect((await app.get('/plain', token)).status).toBe(200);
      const sessions = app.app.get(SessionAuthService);
      await sessions.forgetUser('ann');
      await sessions.signOut(token);
      await until('the line', () => logger.having('warn', 'subscriber failed').length === 1);
    }
    expect(escaped).toEqual([]);
  });
});

/** The status and the warnings while the code misbehaves, and the status of the next user. */
async function outcomeOf(bed: Testbed, place: Place, misbehaviour: () => unknown) {
  const [service, logger] = [await bed.service(), new CapturedLog()];
  const app = await bed.sample(
    {
      baseUrl: service.url,
      controllers: [ThingsController],
      providers: [OwnPolicy, OwnLoader],
      options: { timeoutMs: TIMEOUT_MS, retry: false, breaker: false, ...place.options?.() },
    },
    { logger },
  );
  const ask = async (username: string): Promise<number> => {
    const token = service.signInAs({ username, badge: 'b' } as UserRecord);
    return (await app.get(place.path ?? '/plain', token, { 'x-own': token })).status;
  };
  misbehaves = misbehaviour;
  const status = await ask('ann');
  misbehaves = undefined;
  const lines = logger.lines.filter((line) => /^(warn|error) /.test(line));
  return [status, lines, await ask('bob')] as const;
}
