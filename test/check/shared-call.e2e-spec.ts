import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards } from '@nestjs/common';
import { SessionAuthGuard, SessionAuthService } from 'nestjs-session-auth';
import { once } from 'node:events';
import { connect } from 'node:net';
import { PLATFORMS, type RunningApp } from '../support/platforms.js';
import { MeController } from '../support/sample-app.js';
import { hold, json, reply } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

@Controller('twice')
@UseGuards(SessionAuthGuard)
class TwiceGuardedController {
  @Get()
  @UseGuards(SessionAuthGuard)
  twice(): string {
    return 'twice';
  }
}

const ANN = { username: 'ann' };

/** Counts the requests that have reached the application's guard; `until(n)` resolves when the n-th is there. */
function watchArrivals() {
  const waiting: { count: number; resolve: () => void }[] = [];
  let arrived = 0;
  return {
    token: () => {
      arrived += 1;
      for (const { count, resolve } of waiting) if (arrived >= count) resolve();
      return 'token';
    },
    until: (count: number) => new Promise<void>((resolve) => (arrived >= count ? resolve() : waiting.push({ count, resolve }))),
  };
}

describe.each(PLATFORMS)('the call that requests share on %s', (_name, platform) => {
  const bed = testbed(platform);

  const getMe = (app: RunningApp, times: number): Promise<Response[]> => Promise.all(Array.from({ length: times }, () => app.get('/me')));

  it('is one for a hundred requests that bring one token at the same time', async () => {
    const service = await bed.service();
    const held = hold(json(ANN));
    service.on('user_details', held.script);
    const arrivals = watchArrivals();
    const app = await bed.sample({ baseUrl: service.url, options: { token: arrivals.token } });
    const asked = getMe(app, 100);
    await arrivals.until(100);
    held.release();

    expect((await asked).map(({ status }) => status)).toEqual(Array(100).fill(200));
    expect(service.callsTo('user_details')).toBe(1);
  });

  it('fails for all of them alike', async () => {
    const service = await bed.service();
    const held = hold(reply(500));
    service.on('user_details', held.script);
    const arrivals = watchArrivals();
    const app = await bed.sample({ baseUrl: service.url, options: { token: arrivals.token } });
    const asked = getMe(app, 20);
    await arrivals.until(20);
    held.release();

    expect((await asked).map(({ status }) => status)).toEqual(Array(20).fill(503));
    expect(service.callsTo('user_details')).toBe(2);
  });

  it('is not remembered: the next request asks again', async () => {
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url });
    const token = service.signInAs({});
    await app.get('/me', token);
    await app.get('/me', token);

    expect(service.callsTo('user_details')).toBe(2);
  });

  it('goes on for the others when the first caller disconnects', async () => {
    const service = await bed.service();
    const held = hold(json(ANN));
    service.on('user_details', held.script);
    const arrivals = watchArrivals();
    const app = await bed.sample({ baseUrl: service.url, options: { token: arrivals.token } });
    const first = connect(Number(new URL(app.url).port), '127.0.0.1');
    await once(first, 'connect');
    first.write('GET /me HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await held.arrived;
    const others = getMe(app, 5);
    await arrivals.until(6);
    first.resetAndDestroy();
    await once(first, 'close');
    held.release();

    expect((await others).map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect(service.callsTo('user_details')).toBe(1);
  });

  it.each([
    ['a guard on the controller and one on the handler', '/twice', false],
    ['a global guard and one on the controller', '/me', true],
    ['a global guard, one on the controller and one on the handler', '/twice', true],
  ])('is one for a request that passes %s', async (_case, path, protectAllRoutes) => {
    const service = await bed.service();
    const app = await bed.sample({
      baseUrl: service.url,
      options: { protectAllRoutes },
      controllers: [MeController, TwiceGuardedController],
    });

    expect((await app.get(path, service.signInAs({}))).status).toBe(200);
    expect((await app.get(path, 'bad')).status).toBe(401);
    expect(service.callsTo('user_details')).toBe(2);
  });

  it.each(['signOut', 'forget'] as const)('is left by %s: who comes afterwards starts a new one', async (leave) => {
    const service = await bed.service();
    const before = hold(json(ANN));
    service.on('user_details', before.script);
    const app = await bed.sample({ baseUrl: service.url });
    const early = app.get('/me', 'token');
    await before.arrived;

    await app.app.get(SessionAuthService)[leave]('token');
    service.on('user_details', reply(401));
    const late = await app.get('/me', 'token');
    before.release();

    expect(late.status).toBe(401);
    expect((await early).status).toBe(200);
    expect(service.callsTo('user_details')).toBe(2);
  });
});
