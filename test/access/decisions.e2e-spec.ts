import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards } from '@nestjs/common';
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
import { filter, map } from 'rxjs';
import { CapturedLog } from '../support/captured-log.js';
import { platforms, type RunningApp } from '../support/platforms.js';
import { sendRaw } from '../support/raw-request.js';
import { reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
import { canariesIn, everythingOf, IV, TOKEN } from '../support/trial/canaries.js';
import { openingsWith, overGraphql, overMessages, overSocket, startEveryKind } from './every-kind.js';

@Controller()
class OpeningsController {
  @Get('openings')
  @UseGuards(SessionAuthGuard)
  @Authorize(() => true)
  list(): string {
    return 'in';
  }

  @Get('secrets')
  @Roles('boss')
  secrets(): string {
    return 'in';
  }

  @Get('news')
  @OptionalAuth()
  news(): string {
    return 'in';
  }

  @Get('about')
  @Public()
  about(): string {
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
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers, options: { protectAllRoutes: true } });
    const decisions = observed(app);
    const token = service.signInAs({});

    for (const path of ['/openings', '/secrets', '/news', '/about']) await app.get(path, token);
    for (const path of ['/openings', '/news', '/about']) await app.get(path);
    await app.get('/openings', 'bad');
    service.on('user_details', reply(500));
    await app.get('/openings', service.signInAs({}));

    const list = { ...inPlace, handler: 'list', path: '/openings' };
    const news = { ...inPlace, handler: 'news', path: '/news' };
    expect(decisions).toEqual([
      { ...list, isAllowed: true, outcome: 'authenticated', user: ann },
      {
        ...inPlace,
        handler: 'secrets',
        path: '/secrets',
        isAllowed: false,
        outcome: 'forbidden',
        code: 'ACCESS_DENIED',
        rule: expect.stringMatching(/^@/),
        user: ann,
      },
      { ...news, isAllowed: true, outcome: 'authenticated', user: ann },
      { ...list, isAllowed: false, outcome: 'unauthenticated', code: 'SESSION_REQUIRED' },
      { ...news, isAllowed: true, outcome: 'unauthenticated' },
      { ...list, isAllowed: false, outcome: 'unauthenticated', code: 'SESSION_REJECTED' },
      { ...list, isAllowed: false, outcome: 'unavailable', code: 'SESSION_SERVICE_UNAVAILABLE' },
    ]);
  });

  it('emits a failed sign-in, without the user name, and the path without its query', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers });
    const decisions = observed(app);
    await app.get('/openings?token=secret', 'bad');
    for (const status of [401, 403, 429, 500]) {
      service.on('sign_in', reply(status));
      await app.app
        .get(SessionAuthService)
        .signIn({ username: 'ann', password: 'x' })
        .catch(() => undefined);
    }
    expect(decisions[0]).toMatchObject({ path: '/openings', code: 'SESSION_REJECTED' });
    const place = {
      kind: 'sign-in',
      controller: 'SessionAuthService',
      handler: 'signIn',
    };
    expect(decisions.slice(1)).toEqual(
      (
        [
          ['CREDENTIALS_REJECTED', 'unauthenticated'],
          ['ACCESS_DENIED', 'forbidden'],
          ['TOO_MANY_ATTEMPTS', 'unauthenticated'],
          ['SESSION_SERVICE_UNAVAILABLE', 'unavailable'],
        ] as const
      ).map(([code, outcome]) => ({ ...place, code, outcome, isAllowed: false, atMs: expect.any(Number) })),
    );
  });

  it('emits the decisions of every kind of call', async () => {
    const every = await startEveryKind(platform, openingsWith(UseGuards(SessionAuthGuard)));
    const decisions = observed(every.app);
    const token = every.service.signInAs({});
    for (const call of [overGraphql, overSocket, overMessages])
      expect(await call('openings')(every, token)).toBe('in');
    await every.close();

    expect(
      decisions.map(({ kind, controller, handler, isAllowed, pattern }) => [
        kind,
        controller,
        handler,
        isAllowed,
        pattern,
      ]),
    ).toEqual([
      ['graphql', 'OpeningsResolver', 'openings', true, undefined],
      ['ws', 'OpeningsGateway', 'message', true, 'openings'],
      ['rpc', 'OpeningsController', 'message', true, 'openings'],
    ]);
  });

  it('emits the attempts that it denies without a call: a malformed, an over-long and a repeated token', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers });
    const decisions = observed(app);
    const attempts = [
      ['X-Auth-Token: a b'],
      [`X-Auth-Token: ${'x'.repeat(5_000)}`],
      ['X-Auth-Token: a', 'X-Auth-Token: b'],
    ];
    for (const lines of attempts) await sendRaw(app.url, { path: '/openings', lines });

    const rejected = {
      ...inPlace,
      path: '/openings',
      handler: 'list',
      isAllowed: false,
      outcome: 'unauthenticated',
      code: 'SESSION_REJECTED',
    };
    expect(decisions).toEqual(attempts.map(() => rejected));
    expect(service.requests).toEqual([]);
  });

  it('emits each decision in the context of its request, so that a subscriber knows the id that the application gave it', async () => {
    const service = await bed.service();
    const requestId = new AsyncLocalStorage<string>();
    const app = await bed.sample(
      { baseUrl: service.url, controllers },
      {
        configure: (nest) =>
          void nest.use(
            (request: { readonly headers: Record<string, string> }, _response: unknown, next: () => void) =>
              requestId.run(request.headers['x-request-id'] ?? '', next),
          ),
      },
    );
    const ids: [string | undefined, string | undefined][] = [];
    app.app.get(SessionAuthEvents).decisions$.subscribe(({ code }) => ids.push([requestId.getStore(), code]));
    const token = service.signInAs({});
    await Promise.all([
      app.get('/openings', token, { 'x-request-id': 'r1' }),
      app.get('/secrets', token, { 'x-request-id': 'r2' }),
      app.get('/openings', 'bad', { 'x-request-id': 'r3' }),
    ]);

    expect(new Map(ids)).toEqual(
      new Map([
        ['r1', undefined],
        ['r2', 'ACCESS_DENIED'],
        ['r3', 'SESSION_REJECTED'],
      ]),
    );
  });

  it('emits no token and no X-AUTH-IV', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers });
    const decisions = observed(app);
    service.signInAs({ auth_token: TOKEN }, TOKEN);
    const headers = { 'x-auth-iv': IV };
    expect((await app.get('/openings', TOKEN, headers)).status).toBe(200);
    expect((await app.get('/secrets', TOKEN, headers)).status).toBe(403);

    expect(decisions.map(({ user }) => user?.username)).toEqual(['ann', 'ann']);
    expect(decisions.map(({ user }) => user?.auth_token)).toEqual([undefined, undefined]);
    expect(canariesIn(decisions.map(everythingOf).join('\n'))).toEqual([]);
  });

  it.each<[how: string, subscribe: (events: SessionAuthEvents) => unknown]>([
    ['throws', ({ decisions$ }) => decisions$.subscribe(() => fail())],
    ['throws as an observer', ({ decisions$ }) => decisions$.subscribe({ next: () => fail() })],
    ['rejects', ({ decisions$ }) => decisions$.subscribe(() => Promise.reject(new Error('broken')) as never)],
    ['throws in an operator', ({ decisions$ }) => decisions$.pipe(map(() => fail())).subscribe()],
    [
      'throws after an operator',
      ({ decisions$ }) => decisions$.pipe(filter(() => true)).subscribe(() => fail()),
    ],
  ])(
    'a subscriber that %s changes no decision, ends no process and reaches no other subscriber',
    async (_how, subscribe) => {
      const ended: unknown[] = [];
      const note = (error: unknown): void => void ended.push(error);
      process.on('uncaughtException', note).on('unhandledRejection', note);
      const [service, logger] = [await bed.service(), new CapturedLog()];
      const app = await bed.sample({ baseUrl: service.url, controllers }, { logger });
      subscribe(app.app.get(SessionAuthEvents));
      const decisions = observed(app);
      const token = service.signInAs({});

      expect((await app.get('/openings', token)).status).toBe(200);
      expect((await app.get('/secrets', token)).status).toBe(403);
      expect(decisions).toHaveLength(2);
      await until(
        'the failure is logged',
        () => logger.having('warn', 'event subscriber failed').length === 1,
      );
      expect(ended).toEqual([]);
      process.off('uncaughtException', note).off('unhandledRejection', note);
    },
  );

  it('cannot be changed by a subscriber, and completes with the application', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers });
    const decisions = observed(app);
    await app.get('/openings', service.signInAs({}));
    expect([Object.isFrozen(decisions[0]), Object.isFrozen(decisions[0]?.user)]).toEqual([true, true]);

    let isComplete = false;
    app.app.get(SessionAuthEvents).decisions$.subscribe({ complete: () => (isComplete = true) });
    await app.app.close();
    expect(isComplete).toBe(true);
  });
});

function fail(): never {
  throw new Error('broken');
}
