import type { Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  Body,
  Controller,
  Delete,
  Get,
  Module,
  Post,
  UseGuards,
  type DynamicModule,
  type INestApplication,
} from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  AuthToken,
  CurrentUser,
  fromHeader,
  Public,
  SessionAuthGuard,
  SessionAuthModule,
  SessionAuthService,
  UserRecord,
  type Credentials,
  type SessionAuthExtras,
  type SessionAuthOptions,
} from 'nestjs-session-auth';
import { TestSessions, type SessionHeaders } from 'nestjs-session-auth/testing';
import { IsOptional, IsString } from 'class-validator';
import { z } from 'zod';
import { always } from '../support/always.js';
import { EXPRESS, platforms } from '../support/platforms.js';

class Employee extends UserRecord {
  @IsOptional() @IsString() readonly shift?: string | undefined;
}

@Controller()
@UseGuards(SessionAuthGuard)
class OpeningsController {
  constructor(private readonly sessions: SessionAuthService) {}

  @Get('me') me(@CurrentUser() user: UserRecord): object {
    return { username: user.username, isRecord: user instanceof UserRecord, isFrozen: Object.isFrozen(user) };
  }

  @Get('shift') shift(@CurrentUser() user: Employee): string | undefined {
    return user.shift;
  }

  @Post('session')
  @Public()
  async signIn(@Body() credentials: Credentials): Promise<string> {
    const result = await this.sessions.signIn(credentials);
    return result.kind === 'signed-in' ? result.token : result.kind;
  }

  @Delete('session')
  async signOut(@AuthToken() token: string): Promise<void> {
    await this.sessions.signOut(token);
  }
}

@Controller('partners')
@UseGuards(SessionAuthGuard)
class PartnersController {
  @Get() partners(): string {
    return 'partners';
  }
}

const forRoot = (options: Partial<SessionAuthOptions> & SessionAuthExtras = {}): DynamicModule =>
  SessionAuthModule.forRoot({ baseUrl: 'http://127.0.0.1:9', apiKey: 'application-key', ...options });

@Module({})
class AppModule {}
@Module({})
class Partners {}

describe.each(platforms('Express'))(
  'an application under test with TestSessions on %s',
  (_name, platform) => {
    const sessions = new TestSessions();
    let app: INestApplication;
    let url: string;

    beforeEach(async () => {
      const moduleRef = await sessions
        .install(Test.createTestingModule({ imports: [forRoot()], controllers: [OpeningsController] }))
        .compile();
      app = moduleRef.createNestApplication(await platform(), { logger: false });
      await app.listen(0, '127.0.0.1');
      // After a longer stall, a client would use a connection that the server has closed.
      (app.getHttpServer() as Server).keepAliveTimeout = 60_000;
      url = await app.getUrl();
    });
    afterEach(async () => {
      sessions.setDown(false);
      await app.close();
    });

    const statusOf = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> =>
      always(async () => (await fetch(`${url}${path}`, { headers })).status);

    const signIn = (password: string): Promise<Response> =>
      fetch(`${url}/session`, {
        method: 'POST',
        body: JSON.stringify({ username: 'test.user', password }),
        headers: { 'content-type': 'application/json' },
      });

    it('passes the handler a user as the session service would', async () => {
      const reply = await fetch(`${url}/me`, { headers: sessions.signInAs({ username: 'other.user' }) });
      expect(await reply.json()).toEqual({ username: 'other.user', isRecord: true, isFrozen: true });
    });

    it('reacts to the end of sessions, and to an outage and its end', async () => {
      const headers = sessions.signInAs();
      sessions.setDown(true);
      expect(await statusOf('/me', headers)).toBe(503);
      sessions.setDown(false);
      expect(await statusOf('/me', headers)).toBe(200);
      sessions.revoke(headers);
      expect(await statusOf('/me', headers)).toBe(401);
    });

    it('is available as soon as an outage ends, however many requests it denied', async () => {
      sessions.setDown(true);
      const denied = await Promise.all(
        Array.from({ length: 30 }, () => statusOf('/me', sessions.signInAs())),
      );
      expect(denied).toEqual(Array(30).fill(503));
      sessions.setDown(false);
      expect(await statusOf('/me', sessions.signInAs())).toBe(200);
    });

    it('signs in and out the users of the test', async () => {
      sessions.addUser({ username: 'test.user', password: 'secret' });
      expect((await signIn('wrong')).status).toBe(401);
      const headers = { 'x-auth-token': await (await signIn('secret')).text() };
      expect(await statusOf('/me', headers)).toBe(200);
      const signOut = async () => (await fetch(`${url}/session`, { method: 'DELETE', headers })).status;
      sessions.setDown(true);
      expect([(await signIn('secret')).status, await signOut()]).toEqual([503, 503]);
      sessions.setDown(false);
      expect(await statusOf('/me', headers)).toBe(200);
      expect(await signOut()).toBe(200);
      expect(await statusOf('/me', headers)).toBe(401);
      sessions.addUser({ username: 'test.user', password: 'secret' }, { ats_enabled: 'no' as never });
      expect((await signIn('secret')).status).toBe(503);
    });
  },
);

interface Started {
  readonly app: INestApplication;
  readonly get: (path: string, headers: SessionHeaders) => Promise<Response>;
  readonly status: (headers: SessionHeaders) => Promise<number>;
}

/** Applications with options of their own. */
describe('TestSessions', () => {
  const started: INestApplication[] = [];
  afterEach(async () => {
    for (const app of started.splice(0)) await app.close();
  });

  async function start(sessions: TestSessions, registration: DynamicModule): Promise<Started> {
    const builder = Test.createTestingModule({ imports: [registration], controllers: [OpeningsController] });
    const app = (await sessions.install(builder).compile()).createNestApplication(await EXPRESS(), {
      logger: false,
    });
    started.push(app);
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    const get = (path: string, headers: SessionHeaders) => fetch(`${url}${path}`, { headers });
    return { app, get, status: (headers) => always(async () => (await get('/me', headers)).status) };
  }

  it('do not skip the validation of options', async () => {
    await expect(start(new TestSessions(), forRoot({ apiKey: '' }))).rejects.toThrow('apiKey');
  });

  it('are separate for each application, unless shared', async () => {
    const [shared, own] = [new TestSessions(), new TestSessions()];
    const apps = [];
    for (const sessions of [shared, shared, own]) apps.push(await start(sessions, forRoot()));
    const headers = shared.signInAs();
    expect(await Promise.all(apps.map((app) => app.status(headers)))).toEqual([200, 200, 401]);
    shared.setDown(true);
    expect(await Promise.all(apps.map((app) => app.status(headers)))).toEqual([503, 503, 401]);
  });

  it('serve every registration of an application', async () => {
    const sessions = new TestSessions();
    const token = fromHeader('x-partner-token');
    const partners = {
      module: Partners,
      imports: [forRoot({ token, isGlobal: false })],
      controllers: [PartnersController],
    };
    const { get, status } = await start(sessions, { module: AppModule, imports: [forRoot(), partners] });
    const headers = sessions.signInAs();
    const ofPartner = { ...headers, 'x-partner-token': headers['x-auth-token'] };
    expect([await status(headers), (await get('/partners', ofPartner)).status]).toEqual([200, 200]);
    expect(await always(async () => (await get('/partners', headers)).status)).toBe(401);
  });

  it('have the fields of an own record class', async () => {
    const sessions = new TestSessions<Employee>();
    const { get } = await start(sessions, forRoot({ userRecord: Employee }));
    expect(await (await get('/shift', sessions.signInAs({ shift: 'night' }))).text()).toBe('night');
    expect(() => sessions.signInAs({ shift: 7 as never })).toThrow(
      'TestSessions has an invalid user record (shift: shift must satisfy isString). Its user gets 503. ',
    );
  });

  it('have the fields that the schema of the application would return, without its body', async () => {
    const mapped = z.object({ data: z.object({ login: z.string() }) });
    const userRecord = mapped.transform(({ data }) => ({ username: data.login }));
    const sessions = new TestSessions();
    const { app, get } = await start(sessions, forRoot({ userRecord }));
    const me = { username: 'ann', isRecord: false, isFrozen: true };
    expect(await (await get('/me', sessions.signInAs({ username: 'ann' }))).json()).toEqual(me);
    const credentials = { username: 'ann', password: 'ann-demo' };
    sessions.addUser(credentials, { role: 'recruiter' });
    expect(await app.get(SessionAuthService).signIn(credentials)).toMatchObject({
      kind: 'signed-in',
      token: expect.any(String),
      user: { username: 'ann', role: 'recruiter' },
    });
    expect(() => sessions.signInAs({ username: '', email: null })).toThrow('username');
  });

  it('do not compile a module without SessionAuthModule, and name the missing import', async () => {
    const closed = jest.fn();
    const openings = { provide: 'openings', useValue: { onModuleDestroy: closed } };
    const builder = new TestSessions().install(Test.createTestingModule({ providers: [openings] }));
    await expect(builder.compile()).rejects.toThrow(
      'TestSessions: the module under test does not have SessionAuthModule. Import the module',
    );
    expect(closed).toHaveBeenCalled();
  });
});
