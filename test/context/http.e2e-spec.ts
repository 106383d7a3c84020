import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { APP_GUARD } from '@nestjs/core';
import {
  Controller,
  Get,
  Inject,
  Injectable,
  UseGuards,
  type CanActivate,
  type DynamicModule,
  type ExecutionContext,
} from '@nestjs/common';
import { currentUserOf, sessionContext, SessionContext } from 'nestjs-session-auth/context';
import { SessionAuthGuard, type SessionAuthOptions } from 'nestjs-session-auth';
import { always } from '../support/always.js';
import { PLATFORMS, startApp, type RunningApp } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { HTTP_PROVIDERS, httpControllers, Seen } from './http-handlers.js';
import { ProfileService } from './profile.service.js';

/** A guard of the whole application. Reads the user before and after that of the session. */
@Injectable()
class ApplicationGuard implements CanActivate {
  constructor(private readonly seen: Seen) {}

  canActivate(context: ExecutionContext): boolean {
    this.seen.by['earlier guard'] = currentUserOf(context) ?? 'anonymous';
    return true;
  }
}

describe.each(PLATFORMS)('the current user in a request on %s', (name, platform) => {
  const bed = testbed(platform);
  const seen = new Seen();
  let service: ScriptedService;
  let running: RunningApp;

  const rootWith = (options: Partial<SessionAuthOptions> = {}): DynamicModule => {
    const providers = [
      ...HTTP_PROVIDERS,
      { provide: Seen, useValue: seen },
      { provide: APP_GUARD, useClass: ApplicationGuard },
    ];
    return sampleApp({
      baseUrl: service.url,
      options: { plugins: [sessionContext], ...options },
      controllers: httpControllers(name),
      providers,
    });
  };
  const get = async (path: string, token?: string, headers?: Record<string, string>): Promise<string> =>
    (await running.get(path, token, headers)).text();

  beforeAll(async () => {
    service = await startScriptedService();
    service.signInAs({}, 'good');
    running = await startApp(platform, rootWith());
  });
  afterAll(async () => {
    await running.close();
    await service.close();
  });
  beforeEach(() => {
    seen.by = {};
    service.requests.length = 0;
  });

  it.each([
    ['a handler, now and later', '/name', 'ann ann'],
    ['a pipe', '/piped/7', '7 7 ann'],
    ['an interceptor of the handler', '/intercepted', 'ann, ann'],
    ['the Observable that a handler returns', '/observable', 'ann ann'],
    ['a request-scoped provider', '/request-scoped', 'ann'],
    ['a handler for callers with and without a session', '/optional', 'ann ann'],
  ])('is known to %s', async (_where, path, text) => {
    expect(await get(path, 'good')).toBe(text);
  });

  it('is available with a cached session', async () => {
    const app = await bed.app(rootWith({ cache: { ttlMs: 60_000 } }));
    for (let time = 0; time < 3; time += 1)
      expect(await (await app.get('/name', 'good')).text()).toBe('ann ann');
    expect(service.callsTo('user_details')).toBe(1);
  });

  it('is available with the session that the caller presented', async () => {
    expect(JSON.parse(await get('/session', 'good', { 'x-auth-iv': 'iv-1' }))).toEqual({
      username: 'ann',
      token: 'good',
      iv: 'iv-1',
    });
    expect(JSON.parse(await get('/session', 'good'))).toEqual({ username: 'ann', token: 'good', iv: null });
  });

  it('is available in every event of a stream of server-sent events, and at its end', async () => {
    expect((await get('/events', 'good')).match(/data: .*/g)).toEqual(['data: ann ann', 'data: ann ann']);
    expect(seen.by.finalizer).toBe('ann');
  });

  it.each([
    ['without a session', undefined],
    ['with a refused token', 'bad'],
  ])('is none for a caller %s, where both are admitted', async (_caller, token) => {
    expect(await get('/optional', token)).toBe('anonymous anonymous');
  });

  it('is absent on a public route, also with a valid token or a user of another guard', async () => {
    expect(await get('/open', 'good')).toBe('anonymous, anonymous');
    expect(seen.by.interceptor).toEqual(['anonymous', undefined]);
    expect(await get('/open/replaced', 'good')).toBe('anonymous');
    expect(seen.by['guard of an open route']).toBeUndefined();
  });

  (name === 'Express' ? it : it.skip)(
    'is none where the guard has admitted the request to another handler only',
    async () => {
      expect(await get('/passed-on', 'good')).toBe('anonymous, anonymous');
      expect(seen.by.interceptor).toEqual(['anonymous', undefined]);
    },
  );

  it('is available to guards and interceptors by their context after the session guard', async () => {
    expect(await get('/guarded', 'good')).toBe('ann');
    await get('/intercepted', 'good');
    expect(seen.by).toEqual({
      'earlier guard': 'anonymous',
      'later guard': 'ann',
      interceptor: ['ann', 'ann'],
    });
  });

  it('is available to guards and interceptors by their context without the plugin', async () => {
    const providers = [{ provide: Seen, useValue: seen }];
    const app = await bed.sample({ baseUrl: service.url, controllers: [ContextController], providers });
    expect(await (await app.get('/context', 'good')).text()).toBe('seen');
    expect(seen.by['own guard']).toBe('ann');
  });

  it('is the user that the guard admitted, although another guard has replaced it', async () => {
    expect(await get('/replaced', 'good')).toBe('ann');
    expect(seen.by['guard after an impostor']).toBe('ann');
  });

  it('is absent after a denial', async () => {
    expect(await always(async () => (await running.get('/managers', 'good')).status)).toBe(403);
    expect(await always(async () => (await running.get('/name', 'bad')).status)).toBe(401);
    expect(running.app.get(ProfileService).name()).toBe('anonymous');
  });

  it('answers 401 to a caller without a session if a handler that admits it reads the user', async () => {
    const reply = await running.get('/open/user');
    expect([reply.status, await reply.json()]).toEqual([
      401,
      expect.objectContaining({ code: 'SESSION_REQUIRED' }),
    ]);
  });

  it('throws outside of a call, with a message that contains the remedy', () => {
    const session = running.app.get(SessionContext);
    const read = [() => session.user, () => session.token];
    for (const each of read)
      expect(each).toThrow(
        'SessionContext was read outside of a call that SessionAuthGuard has admitted with a session. Read it in',
      );
    expect([session.findUser(), session.authIv]).toEqual([undefined, undefined]);
  });
});

class OwnGuard implements CanActivate {
  constructor(@Inject(Seen) private readonly seen: Seen) {}

  canActivate(context: ExecutionContext): boolean {
    this.seen.by['own guard'] = currentUserOf(context)?.username;
    return true;
  }
}

@Controller('context')
@UseGuards(SessionAuthGuard, OwnGuard)
class ContextController {
  @Get()
  seen(): string {
    return 'seen';
  }
}
