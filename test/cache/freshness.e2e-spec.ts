import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Next, UseGuards } from '@nestjs/common';
import { FreshSession, Public, Roles, SessionAuthGuard } from 'nestjs-session-auth';
import { hold, json, reply } from '../support/scripted-service.js';
import { handClock } from '../support/hand-clock.js';
import { EXPRESS, platforms } from '../support/platforms.js';
import { FaultsController, HandlerRuns } from '../support/trial/faults-app.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN } from '../support/trial/trial.js';
import { MeController } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';
import { cachingApp, type CachingApp } from '../support/caching-app.js';

@Controller()
@UseGuards(SessionAuthGuard)
class DangerousController {
  constructor(private readonly runs: HandlerRuns) {}

  @Get('fresh')
  @FreshSession()
  fresh(): string {
    this.runs.count += 1;
    return 'in';
  }
}

/** Handlers of Express that are reached through `next()`. */
@Controller('chain')
@UseGuards(SessionAuthGuard)
class ChainController {
  constructor(private readonly runs: HandlerRuns) {}

  @Get('fresh')
  plain(@Next() next: () => void): void {
    next();
  }

  @Get('*path')
  @FreshSession()
  fresh(): string {
    this.runs.count += 1;
    return 'in';
  }
}

const cachingWith = (controller: typeof DangerousController | typeof ChainController) => ({
  options: { cache: { ttlMs: 10_000 } },
  controllers: [FaultsController, controller],
});

describe.each(platforms('Fastify'))('freshness on %s', (_name, platform) => {
  const row = rowsOn(platform);
  handClock();

  row(
    'a fresh check joins no call that was sent before, and its refusal outlives the late answer to that call [P02]',
    async (trial) => {
      const held = hold(json(ANN));
      trial.service.on('user_details', held.script);
      const slow = trial.status();
      await held.arrived;
      trial.service.on('user_details', reply(401));
      expect(await trial.status({ path: '/fresh' })).toBe(401);
      held.release();

      expect([await slow, await trial.status(), trial.calls(), trial.runs.count]).toEqual([200, 401, 2, 1]);
    },
    cachingWith(DangerousController),
  );
});

describe('freshness behind next() on Express', () => {
  rowsOn(EXPRESS)(
    'a fresh handler that another handler hands the request on to makes a check of its own [P02]',
    async (trial) => {
      expect(await trial.status()).toBe(200);
      trial.service.on('user_details', reply(401));

      expect([await trial.status({ path: '/chain/fresh' }), trial.calls(), trial.runs.count]).toEqual([
        401, 2, 1,
      ]);
    },
    cachingWith(ChainController),
  );
});

@Controller('all')
@UseGuards(SessionAuthGuard)
@FreshSession()
class FreshController {
  @Get('roles')
  @Roles('clerk')
  roles(): string {
    return 'in';
  }

  @Get('boss')
  @Roles('boss')
  boss(): string {
    return 'in';
  }
}

@Controller('open')
@UseGuards(SessionAuthGuard)
@Public()
class OpenController {
  @Get('fresh')
  @FreshSession()
  fresh(): string {
    return 'in';
  }

  @Get('public')
  open(): string {
    return 'in';
  }
}

describe.each(platforms('Fastify'))('@FreshSession on %s', (_name, platform) => {
  const bed = testbed(platform);
  handClock();

  async function withCachedSession(): Promise<CachingApp> {
    const controllers = [MeController, FreshController, OpenController];
    const trial = await cachingApp(bed, {}, { controllers });
    trial.service.on('user_details', json({ username: 'ann', role: 'clerk' }));
    await trial.status('/me', 'token');
    return trial;
  }

  it.each(['/all/roles', '/open/fresh'])('asks the service each time: %s', async (path) => {
    const { service, status, calls } = await withCachedSession();
    expect([await status(path, 'token'), await status(path, 'token'), calls()]).toEqual([200, 200, 3]);

    service.on('user_details', reply(401));
    expect(await status(path, 'token')).toBe(401);
  });

  it('closes a handler of a @Public() controller, leaves the others open, and adds to other rules', async () => {
    const { status } = await withCachedSession();

    expect([await status('/open/fresh'), await status('/open/public')]).toEqual([401, 200]);
    expect(await status('/all/boss', 'token')).toBe(403);
  });
});
