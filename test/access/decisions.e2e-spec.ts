import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards, type INestApplication } from '@nestjs/common';
import {
  Authorize,
  OptionalAuth,
  Public,
  Roles,
  SessionAuthEvents,
  SessionAuthService,
  SessionAuthGuard,
  type SessionAuthDecision,
} from 'nestjs-session-auth';
import { platforms, type RunningApp } from '../support/platforms.js';
import { sendRaw } from '../support/raw-request.js';
import { reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { canariesIn, everythingOf, IV, TOKEN } from '../support/trial/canaries.js';
import { openingsWith, overGraphql, overMessages, overSocket, startEveryKind } from './every-kind.js';

@Controller()
class OpeningsController {
  @Get('openings') @Authorize(() => true) list(): string {
    return 'in';
  }

  @Get('secrets') @Roles('boss') secrets(): string {
    return 'in';
  }

  @Get('news') @OptionalAuth() news(): string {
    return 'in';
  }

  @Get('about') @Public() about(): string {
    return 'in';
  }
}

describe.each(platforms('Express'))('decisions$ on %s', (_name, platform) => {
  const bed = testbed(platform);
  const controllers = [OpeningsController];

  const observed = (app: RunningApp): SessionAuthDecision[] => {
    const decisions: SessionAuthDecision[] = [];
    app.app.get(SessionAuthEvents).decisions$.subscribe((decision) => decisions.push(decision));
    return decisions;
  };

  async function start() {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers });
    return { service, app, decisions: observed(app) };
  }

  const inPlace = {
    kind: 'http',
    controller: 'OpeningsController',
    method: 'GET',
    // Fastify gives each request an id.
    ...(_name === 'Fastify' && { requestId: expect.any(String) }),
    atMs: expect.any(Number),
  };
  const ann = expect.objectContaining({ username: 'ann' });

  it('emits one decision for each call, for every outcome', async () => {
    const { service, app, decisions } = await start();
    const token = service.signInAs({});

    for (const path of ['/openings', '/secrets', '/news', '/about']) await app.get(path, token);
    for (const path of ['/openings', '/news', '/about']) await app.get(path);
    await app.get('/openings', 'bad');
    service.on('user_details', reply(500));
    await app.get('/openings', service.signInAs({}));

    const list = { ...inPlace, handler: 'list', path: '/openings' };
    const news = { ...inPlace, handler: 'news', path: '/news' };
    const secrets = { ...inPlace, handler: 'secrets', path: '/secrets', rule: '@Roles(boss)' };
    expect(decisions).toEqual([
      { ...list, isAllowed: true, outcome: 'authenticated', user: ann },
      { ...secrets, isAllowed: false, outcome: 'forbidden', code: 'ACCESS_DENIED', user: ann },
      { ...news, isAllowed: true, outcome: 'authenticated', user: ann },
      { ...list, isAllowed: false, outcome: 'unauthenticated', code: 'SESSION_REQUIRED' },
      { ...news, isAllowed: true, outcome: 'unauthenticated' },
      { ...list, isAllowed: false, outcome: 'unauthenticated', code: 'SESSION_REJECTED' },
      { ...list, isAllowed: false, outcome: 'unavailable', code: 'SESSION_SERVICE_UNAVAILABLE' },
    ]);
  });

  it('emits a failed sign-in, without the user name, and the path without its query', async () => {
    const { service, app, decisions } = await start();
    await app.get('/openings?token=secret', 'bad');
    for (const status of [401, 403, 429, 500]) {
      service.on('sign_in', reply(status));
      await app.app
        .get(SessionAuthService)
        .signIn({ username: 'ann', password: 'x' })
        .catch(() => undefined);
    }
    expect(decisions[0]).toMatchObject({ path: '/openings', code: 'SESSION_REJECTED' });
    const place = { kind: 'sign-in', controller: 'SessionAuthService', handler: 'signIn' };
    const failed = { ...place, isAllowed: false, atMs: expect.any(Number) };
    expect(decisions.slice(1)).toEqual([
      { ...failed, code: 'CREDENTIALS_REJECTED', outcome: 'unauthenticated' },
      { ...failed, code: 'ACCESS_DENIED', outcome: 'forbidden' },
      { ...failed, code: 'TOO_MANY_ATTEMPTS', outcome: 'unauthenticated' },
      { ...failed, code: 'SESSION_SERVICE_UNAVAILABLE', outcome: 'unavailable' },
    ]);
  });

  it('emits the decisions of every kind of call', async () => {
    const every = await startEveryKind(platform, openingsWith(UseGuards(SessionAuthGuard)));
    const decisions = observed(every.app);
    const token = every.service.signInAs({});
    for (const call of [overGraphql, overSocket, overMessages])
      expect(await call('openings')(every, token)).toBe('in');
    await every.close();

    const pattern = 'openings';
    expect(decisions).toMatchObject([
      { kind: 'graphql', controller: 'OpeningsResolver', handler: 'openings', isAllowed: true },
      { kind: 'ws', controller: 'OpeningsGateway', handler: 'message', isAllowed: true, pattern },
      { kind: 'rpc', controller: 'OpeningsController', handler: 'message', isAllowed: true, pattern },
    ]);
  });

  it('emits the attempts that it denies without a call: a malformed, an over-long and a repeated token', async () => {
    const { service, app, decisions } = await start();
    const attempts = [
      ['X-Auth-Token: a b'],
      [`X-Auth-Token: ${'x'.repeat(5_000)}`],
      ['X-Auth-Token: a', 'X-Auth-Token: b'],
    ];
    for (const lines of attempts) await sendRaw(app.url, { path: '/openings', lines });

    const rejected = { isAllowed: false, outcome: 'unauthenticated', code: 'SESSION_REJECTED' };
    expect(decisions).toMatchObject(attempts.map(() => rejected));
    expect(service.requests).toEqual([]);
  });

  it('emits each decision in the context of its request, so that a subscriber knows the id that the application gave it', async () => {
    const service = await bed.service();
    const requestId = new AsyncLocalStorage<string>();
    type Received = Readonly<Record<'headers', Record<string, string>>>;
    const middleware = ({ headers }: Received, _response: unknown, next: () => void): void =>
      requestId.run(headers['x-request-id'] ?? '', next);
    const configure = (nest: INestApplication): void => void nest.use(middleware);
    const app = await bed.sample({ baseUrl: service.url, controllers }, { configure });
    const ids: Record<string, string | undefined> = {};
    app.app
      .get(SessionAuthEvents)
      .decisions$.subscribe(({ code }) => (ids[String(requestId.getStore())] = code));
    const token = service.signInAs({});
    await Promise.all([
      app.get('/openings', token, { 'x-request-id': 'r1' }),
      app.get('/secrets', token, { 'x-request-id': 'r2' }),
      app.get('/openings', 'bad', { 'x-request-id': 'r3' }),
    ]);

    expect(ids).toStrictEqual({ r1: undefined, r2: 'ACCESS_DENIED', r3: 'SESSION_REJECTED' });
  });

  it('emits no token and no X-AUTH-IV', async () => {
    const { service, app, decisions } = await start();
    service.signInAs({ auth_token: TOKEN }, TOKEN);
    const headers = { 'x-auth-iv': IV };
    expect((await app.get('/openings', TOKEN, headers)).status).toBe(200);
    expect((await app.get('/secrets', TOKEN, headers)).status).toBe(403);

    expect(decisions.map(({ user }) => user?.username)).toEqual(['ann', 'ann']);
    expect(decisions.map(({ user }) => user?.auth_token)).toEqual([undefined, undefined]);
    expect(canariesIn(decisions.map(everythingOf).join('\n'))).toEqual([]);
  });
});
