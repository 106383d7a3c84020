import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Inject, Injectable, Module, Scope, UseGuards, type Provider } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import {
  CurrentUser,
  SessionAuthGuard,
  SessionAuthModule,
  SessionRecord,
  type LoadUser,
  type SessionAuthOptions,
  type UserLoader,
  type UserRecord,
} from 'nestjs-session-auth';
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

describe.each(platforms('Fastify'))('loadUser on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function appWith(loadUser: Required<SessionAuthOptions>['loadUser'], providers: Provider[] = []) {
    const log = new CapturedLog();
    const service = await bed.service();
    const options = { loadUser };
    const sample = { baseUrl: service.url, controllers: [StaffController], providers, options };
    const app = await bed.sample(sample, { logger: log });
    const ask = async (path = '/me', token?: string): Promise<unknown> => {
      const reply = await app.get(path, token);
      return reply.status === 200 ? reply.json() : reply.status;
    };
    return { service, ask, log, token: service.signInAs({ username: 'ann' }) };
  }

  it.each<[what: string, load: LoadUser, expected: unknown]>([
    ['resolves to a user', () => Promise.resolve({ id: 7 }), [{ id: 7 }, 'ann']],
    ['rejects', () => Promise.reject(new Error('postgres://app:hunter2@db')), 503],
  ])('as a function that %s', async (_what, load, expected) => {
    const { ask, token, log } = await appWith(load);
    expect(await always(() => ask('/me', token))).toEqual(expected);
    if (expected === 503) expect(log.lines.join('\n')).toContain('loadUser of StaffController.me');
    expect(log.lines.join('\n')).not.toContain('hunter2');
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
});

describe('a loader that Nest cannot create', () => {
  const stopped = async (loadUser: unknown): Promise<string> => {
    const options = { loadUser } as Partial<SessionAuthOptions>;
    return (await bootstrapError(sampleApp({ baseUrl: 'http://127.0.0.1:9', options }))).message;
  };

  it('stops the application, also one without load(), or that is neither a class nor a function', async () => {
    class Loader {
      readonly staff = [];
    }
    expect(await stopped(StaffLoader)).toContain("StaffLoader can't be created. Add it to the providers of");
    expect(await stopped(Loader)).toContain('loadUser: Loader has no method load(record, context).');
    expect(await stopped({ load: () => undefined })).toContain('loadUser must be a function or a class');
  });
});
