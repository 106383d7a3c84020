import { describe, expect, it, jest } from '@jest/globals';
import {
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
  NotFoundException,
  Scope,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  type Provider,
} from '@nestjs/common';
import { APP_GUARD, REQUEST } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import {
  CurrentUser,
  Public,
  Roles,
  SessionAuthGuard,
  SessionAuthModule,
  SessionAuthService,
  SessionRecord,
  type LoadUser,
  type SessionAuthOptions,
  type UserLoader,
  type UserRecord,
} from 'nestjs-session-auth';
import { TestSessions } from 'nestjs-session-auth/testing';
import { always } from '../support/always.js';
import { CapturedLog } from '../support/captured-log.js';
import { platforms } from '../support/platforms.js';
import { bootstrapError, sampleApp } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';

@Controller()
@UseGuards(SessionAuthGuard)
class StaffController {
  @Get('me')
  me(@CurrentUser() staff: unknown, @SessionRecord() record: UserRecord): unknown[] {
    return [staff, record.username];
  }

  @Get('manager') @Roles('hiring_manager') manager(@CurrentUser() staff: unknown): unknown[] {
    return [staff];
  }

  @Get('open') @Public() open(): string {
    return 'open';
  }
}

@Injectable()
class StaffRepository {
  find(username = 'none'): object {
    return { id: username.length, username };
  }
}

@Injectable()
class StaffLoader implements UserLoader<UserRecord, object> {
  constructor(private readonly staff: StaffRepository) {}

  load({ username }: UserRecord): object {
    return this.staff.find(username);
  }
}

@Injectable({ scope: Scope.REQUEST })
class ScopedLoader implements UserLoader<UserRecord, object> {
  constructor(@Inject(REQUEST) private readonly request: { readonly url: string }) {}

  load(): object {
    return { url: this.request.url };
  }
}

@Module({})
class Root {}

@Module({ providers: [StaffRepository], exports: [StaffRepository] })
class StaffModule {}

@Injectable()
class KeyGuard extends SessionAuthGuard {
  override canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, unknown> }>();
    if (headers['x-application-key'] === undefined) return super.canActivate(context);
    return this.admitAs(context, { username: 'robot', role: 'hiring_manager' });
  }
}

/** A query of a library for databases: it has a `then`, and is no promise. */
const query = (result: unknown): PromiseLike<object> => ({
  then: (settled) => Promise.resolve(result).then(settled as never),
});

describe.each(platforms('Fastify'))('loadUser on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function appWith(
    loadUser: SessionAuthOptions['loadUser'],
    providers: Provider[] = [],
    timeoutMs = 30_000,
  ) {
    const log = new CapturedLog();
    const service = await bed.service();
    const options = { ...(loadUser && { loadUser }), timeoutMs };
    const sample = { baseUrl: service.url, controllers: [StaffController], providers, options };
    const app = await bed.sample(sample, { logger: log });
    const ask = async (path = '/me', token?: string, headers = {}): Promise<unknown> => {
      const reply = await app.get(path, token, headers);
      return reply.status === 200 ? reply.json() : reply.status;
    };
    return { service, ask, log, token: service.signInAs({ username: 'ann', role: 'hiring_manager' }) };
  }

  it.each<[what: string, load: LoadUser, expected: unknown]>([
    ['returns a user', () => ({ id: 7 }), [{ id: 7 }, 'ann']],
    ['resolves to a user', () => Promise.resolve({ id: 7 }), [{ id: 7 }, 'ann']],
    ['returns a query of a library', () => query({ id: 7 }), [{ id: 7 }, 'ann']],
    ['returns a name', () => 'ann', ['ann', 'ann']],
    ['returns an id', () => 7, [7, 'ann']],
    ['returns nothing', () => undefined, 403],
    ['resolves to nothing', () => Promise.resolve(null), 403],
    ['rejects', () => Promise.reject(new Error('postgres://app:hunter2@db')), 503],
    ['rejects with an HttpException', () => Promise.reject(new NotFoundException()), 404],
    ['never settles', () => new Promise(() => undefined), 503],
  ])('as a function that %s', async (_what, load, expected) => {
    const { ask, token, log } = await appWith(load, [], expected === 503 ? 3_000 : undefined);
    expect([await ask('/me', token), await ask(), await ask('/open').catch(() => 'text')]).toEqual([
      expected,
      401,
      'text',
    ]);
    if (expected === 403) expect(await always(() => ask('/me', token))).toBe(403);
    if (expected === 503) expect(log.lines.join('\n')).toContain('loadUser of StaffController.me');
    expect(log.lines.join('\n')).not.toContain('hunter2');
  });

  it.each<unknown>([false, true, '', 0, NaN, 0n])(
    'as a function that loads %p, which is no user, denies with 403 and one log line [P69]',
    async (loaded) => {
      const { ask, token, log } = await appWith(() => Promise.resolve(loaded));
      expect([await ask('/me', token), await ask('/me', token)]).toEqual([403, 403]);
      expect(log.having('warn', 'no local user')).toHaveLength(1);
    },
  );

  it('loads the user of the record that was checked last in a request [P52]', async () => {
    const service = await bed.service();
    const token = service.signInAs({ username: 'ann', role: 'boss' });
    @Injectable()
    class EndingGuard implements CanActivate {
      constructor(private readonly sessions: SessionAuthService) {}

      /** The role is taken from the user meanwhile, which another instance says. */
      async canActivate(): Promise<boolean> {
        service.signInAs({ username: 'ann', role: 'guest' }, token);
        await this.sessions.forget(token);
        return true;
      }
    }
    @Controller()
    class RoleController {
      @Get('role')
      @UseGuards(SessionAuthGuard, EndingGuard, SessionAuthGuard)
      role(@CurrentUser() staff: unknown, @SessionRecord() { role }: UserRecord): unknown {
        return [staff, role];
      }
    }
    const app = await bed.sample({
      baseUrl: service.url,
      controllers: [RoleController],
      options: { cache: { ttlMs: 60_000 }, loadUser: ({ role }) => ({ role }) },
    });
    expect(await (await app.get('/role', token)).json()).toEqual([{ role: 'guest' }, 'guest']);
  });

  it('as a class that a module provides', async () => {
    const { ask, token } = await appWith(StaffLoader, [StaffLoader, StaffRepository]);
    expect(await ask('/me', token)).toEqual([{ id: 3, username: 'ann' }, 'ann']);
  });

  it('as a class that Nest creates, with what forRootAsync imports', async () => {
    const service = await bed.service();
    const options = { baseUrl: service.url, apiKey: 'key', loadUser: StaffLoader };
    const app = await bed.app({
      module: Root,
      imports: [SessionAuthModule.forRootAsync({ imports: [StaffModule], useFactory: () => options })],
      controllers: [StaffController],
    });
    const reply = await app.get('/me', service.signInAs({ username: 'ann' }));
    expect(await reply.json()).toEqual([{ id: 3, username: 'ann' }, 'ann']);
  });

  it('as a request-scoped class, which is resolved for each call', async () => {
    const { ask, token } = await appWith(ScopedLoader, [ScopedLoader]);
    expect(await ask('/me?first', token)).toEqual([{ url: '/me?first' }, 'ann']);
    expect(await ask('/me?second', token)).toEqual([{ url: '/me?second' }, 'ann']);
  });

  it('also loads the user of a record that a subclass of the guard admits', async () => {
    const { ask } = await appWith(
      ({ username }) => ({ name: username }),
      [{ provide: APP_GUARD, useClass: KeyGuard }],
    );
    const key = { 'x-application-key': 'key' };
    expect(await ask('/me', undefined, key)).toEqual([{ name: 'robot' }, 'robot']);
    expect(await ask('/manager', undefined, key)).toEqual([{ name: 'robot' }]);
  });

  it('is given a user by a test, and is not called then', async () => {
    const load = jest.fn<LoadUser>(() => ({ id: 1 }));
    const sessions = new TestSessions();
    const root = sampleApp({
      baseUrl: 'http://127.0.0.1:9',
      controllers: [StaffController],
      options: { loadUser: load },
    });
    const moduleRef = await sessions.install(Test.createTestingModule({ imports: [root] })).compile();
    const app = moduleRef.createNestApplication(await platform());
    try {
      await app.listen(0, '127.0.0.1');
      const ask = async (headers: Record<string, string>): Promise<unknown> => {
        const reply = await fetch(`${await app.getUrl()}/me`, { headers });
        return reply.status === 200 ? reply.json() : reply.status;
      };
      expect(await ask(sessions.signInAs({ username: 'ann' }, { id: 7 }))).toEqual([{ id: 7 }, 'ann']);
      expect(await ask(sessions.signInAs({ username: 'ann' }, undefined))).toBe(403);
      expect(load).not.toHaveBeenCalled();
      expect(await ask(sessions.signInAs({ username: 'ann' }))).toEqual([{ id: 1 }, 'ann']);
    } finally {
      await app.close();
    }
  });
});

describe('a loader that Nest cannot create', () => {
  const stopped = async (loadUser: unknown): Promise<string> => {
    const options = { loadUser } as Partial<SessionAuthOptions>;
    return (await bootstrapError(sampleApp({ baseUrl: 'http://127.0.0.1:9', options }))).message;
  };

  it('stops the application, with the remedy', async () => {
    expect(await stopped(StaffLoader)).toContain(
      "loadUser: StaffLoader can't be created. Add it to the providers of the module that has its dependencies.",
    );
  });

  it('stops the application if it has no load(), or is neither a class nor a function', async () => {
    class Loader {
      readonly staff = [];
    }
    expect(await stopped(Loader)).toContain('loadUser: Loader has no method load(record, context).');
    expect(await stopped({ load: () => undefined })).toContain('loadUser must be a function or a class');
  });
});
