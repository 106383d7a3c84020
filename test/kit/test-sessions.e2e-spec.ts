import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Body, Controller, Delete, Get, Module, Post, UseGuards, type INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  AuthToken,
  CclScope,
  CurrentUser,
  Public,
  Roles,
  SessionAuthGuard,
  SessionAuthModule,
  SessionAuthService,
  UserRecord,
  type Credentials,
} from 'nestjs-session-auth';
import { aUserRecord, TestSessions } from 'nestjs-session-auth/testing';
import { PLATFORMS } from '../support/platforms.js';

@Controller()
@UseGuards(SessionAuthGuard)
class OpeningsController {
  constructor(private readonly sessions: SessionAuthService) {}

  @Get('me')
  me(@CurrentUser() user: UserRecord): object {
    return { username: user.username, isRecord: user instanceof UserRecord, isFrozen: Object.isFrozen(user) };
  }

  @Get('openings')
  @Roles('hiring_manager')
  openings(): string {
    return 'openings';
  }

  @Get('clients/:clientId')
  @CclScope({ client_id: 'clientId' })
  client(): string {
    return 'client';
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

@Module({
  imports: [SessionAuthModule.forRoot({ baseUrl: 'http://127.0.0.1:9', apiKey: 'application-key' })],
  controllers: [OpeningsController],
})
class AppModule {}

describe.each(PLATFORMS)('an application under test with TestSessions on %s', (_name, platform) => {
  const sessions = new TestSessions();
  let app: INestApplication;
  let url: string;

  beforeEach(async () => {
    const moduleRef = await sessions.install(Test.createTestingModule({ imports: [AppModule] })).compile();
    app = moduleRef.createNestApplication(platform(), { logger: false });
    await app.listen(0, '127.0.0.1');
    url = await app.getUrl();
  });
  afterEach(async () => {
    sessions.setDown(false);
    await app.close();
  });

  const statusOf = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> =>
    (await fetch(`${url}${path}`, { headers })).status;

  const signIn = (password: string): Promise<Response> =>
    fetch(`${url}/session`, {
      method: 'POST',
      body: JSON.stringify({ username: 'test.user', password }),
      headers: { 'content-type': 'application/json' },
    });

  it('gives the handler a user as the session service would', async () => {
    const reply = await fetch(`${url}/me`, { headers: sessions.signInAs({ username: 'other.user' }) });
    expect(await reply.json()).toEqual({ username: 'other.user', isRecord: true, isFrozen: true });
  });

  it('is guarded by the real guard and its rules', async () => {
    expect(await statusOf('/openings')).toBe(401);
    expect(await statusOf('/openings', { 'x-auth-token': 'unknown' })).toBe(401);
    expect(await statusOf('/openings', sessions.signInAs())).toBe(200);
    expect(await statusOf('/openings', sessions.signInAs({ role: 'recruiter' }))).toBe(403);
    expect(await statusOf('/clients/1', sessions.signInAs())).toBe(200);
    expect(await statusOf('/clients/1', sessions.signInAs({ ccl_info: { client_id: 2 } }))).toBe(403);
    expect(await statusOf('/clients/1', sessions.signInAs({ ccl_info: null }))).toBe(403);
  });

  it('sees sessions end, and the service go down and come back', async () => {
    const headers = sessions.signInAs();
    sessions.setDown(true);
    expect(await statusOf('/me', headers)).toBe(503);
    sessions.setDown(false);
    expect(await statusOf('/me', headers)).toBe(200);
    sessions.end(headers);
    expect(await statusOf('/me', headers)).toBe(401);
  });

  it('signs in and out those that the test knows', async () => {
    sessions.addUser({ username: 'test.user', password: 'secret' });
    expect((await signIn('wrong')).status).toBe(401);
    const headers = { 'x-auth-token': await (await signIn('secret')).text() };
    expect(await statusOf('/me', headers)).toBe(200);
    await fetch(`${url}/session`, { method: 'DELETE', headers });
    expect(await statusOf('/me', headers)).toBe(401);
  });
});

describe('a record for a test', () => {
  it('has every field of the interface but the token; what the test names is in its place, and null leaves a field out', () => {
    const names = Object.keys(aUserRecord()).sort();
    expect(names).toHaveLength(14);
    expect(aUserRecord({ role: 'recruiter', email: null })).toMatchObject({ role: 'recruiter', username: 'test.user' });
    expect(aUserRecord({ email: null })).not.toHaveProperty('email');
  });

  it('shares nothing with the next one', () => {
    const [one, other] = [aUserRecord(), aUserRecord()];
    expect(one.ccl_info).not.toBe(other.ccl_info);
  });
});
