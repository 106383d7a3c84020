import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  HttpCode,
  Injectable,
  Next,
  Post,
  UseGuards,
  type CanActivate,
} from '@nestjs/common';
import { CurrentUser, FreshSession, SessionAuthGuard, SessionAuthService } from 'nestjs-session-auth';
import { hold, json, reply } from '../support/scripted-service.js';
import { handClock } from '../support/hand-clock.js';
import { EXPRESS, platforms } from '../support/platforms.js';
import { TOKEN } from '../support/trial/canaries.js';
import { FaultsController, HandlerRuns } from '../support/trial/faults-app.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN, type Trial } from '../support/trial/trial.js';
import { MeController } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';
import { errorOf, cachingApp, type CachingApp } from '../support/caching-app.js';
import { FreshController, HandlerController, OpenController } from './fresh-controllers.js';

/** A dangerous handler. */
@Controller('fresh')
@UseGuards(SessionAuthGuard)
class CountedFreshController {
  constructor(private readonly runs: HandlerRuns) {}

  @Get()
  @FreshSession()
  @UseGuards(SessionAuthGuard)
  fresh(@CurrentUser('username') username: string | undefined): string | undefined {
    this.runs.count += 1;
    return username;
  }
}

/** Ends the session of its request, and admits it. */
@Injectable()
class EndingGuard implements CanActivate {
  constructor(private readonly sessions: SessionAuthService) {}

  async canActivate(): Promise<boolean> {
    await this.sessions.signOut(TOKEN);
    return true;
  }
}

/** Names the guard before and after a guard that ends the session. */
@Controller('ended')
@UseGuards(SessionAuthGuard)
class EndedController {
  constructor(private readonly runs: HandlerRuns) {}

  @Get()
  @UseGuards(EndingGuard, SessionAuthGuard)
  ended(): void {
    this.runs.count += 1;
  }
}

/** Handlers of Express that are reached through `next()`. */
@Controller('chain')
@UseGuards(SessionAuthGuard)
class ChainController {
  constructor(
    private readonly runs: HandlerRuns,
    private readonly sessions: SessionAuthService,
  ) {}

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

  @Post('leave')
  @HttpCode(200)
  @FreshSession()
  async leave(@Next() next: () => void): Promise<void> {
    await this.sessions.signOut(TOKEN);
    next();
  }

  @Post('*path')
  @HttpCode(200)
  @FreshSession()
  after(): string {
    this.runs.count += 1;
    return 'in';
  }
}

const CACHED = {
  options: { cache: { ttlMs: 10_000 } },
  controllers: [FaultsController, CountedFreshController],
};

describe.each(platforms('Fastify'))('freshness on %s', (_name, platform) => {
  const row = rowsOn(platform);
  const clock = handClock();

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
    CACHED,
  );

  row(
    'a fresh check is never answered by a stale session [P02]',
    async (trial) => {
      expect(await trial.status()).toBe(200);
      clock.advance(10_001);
      trial.service.on('user_details', reply(500));

      expect([await trial.status(), await trial.status({ path: '/fresh' }), trial.runs.count]).toEqual([
        200, 503, 2,
      ]);
    },
    {
      ...CACHED,
      options: { retry: false, breaker: false, cache: { ttlMs: 10_000, staleIfErrorMs: 60_000 } },
    },
  );

  row(
    'a handler that names the guard more than once makes one fresh check [P02]',
    async (trial) => {
      expect([await trial.status(), await trial.status({ path: '/fresh' }), trial.calls()]).toEqual([
        200, 200, 2,
      ]);
    },
    CACHED,
  );

  row(
    'a guard that ends the session ends it for the guard that is named after it [P02]',
    async (trial) => {
      trial.service.on('sign_out', (_request, response) => {
        trial.service.on('user_details', reply(401));
        response.writeHead(200).end();
      });

      expect([await trial.status({ path: '/ended' }), trial.calls(), trial.runs.count]).toEqual([401, 2, 0]);
    },
    { ...CACHED, controllers: [FaultsController, EndedController] },
  );

  row(
    'a session that ended while its check was under way is not cached beyond its lifetime, counted from the call [P02]',
    async (trial) => {
      const held = hold(json(ANN));
      trial.service.on('user_details', held.script);
      const slow = trial.status();
      await held.arrived;
      clock.advance(3_000);
      held.release();
      expect(await slow).toBe(200);
      clock.advance(7_000);
      trial.service.on('user_details', reply(401));

      expect([await trial.status(), trial.calls()]).toEqual([401, 2]);
    },
    CACHED,
  );
});

describe('freshness behind next() on Express', () => {
  const row = rowsOn(EXPRESS);
  const setup = { options: { cache: { ttlMs: 10_000 } }, controllers: [FaultsController, ChainController] };
  const warm = async (trial: Trial): Promise<void> => expect(await trial.status()).toBe(200);

  row(
    'a fresh handler that another handler hands the request on to makes a check of its own [P02]',
    async (trial) => {
      await warm(trial);
      trial.service.on('user_details', reply(401));

      expect([await trial.status({ path: '/chain/fresh' }), trial.calls(), trial.runs.count]).toEqual([
        401, 2, 1,
      ]);
    },
    setup,
  );

  row(
    'a handler that signs the session out and hands the request on ends the session for the next handler [P02]',
    async (trial) => {
      await warm(trial);
      const after = trial.status({ path: '/chain/leave', method: 'POST' });
      trial.service.on('sign_out', (_request, response) => {
        trial.service.on('user_details', reply(401));
        response.writeHead(200).end();
      });

      expect([await after, trial.runs.count]).toEqual([401, 1]);
    },
    setup,
  );
});

describe.each(platforms('Fastify'))('@FreshSession on %s', (_name, platform) => {
  const bed = testbed(platform);
  const clock = handClock();

  async function withCachedSession(): Promise<CachingApp> {
    const trial = await cachingApp(
      bed,
      {},
      { controllers: [MeController, HandlerController, FreshController, OpenController] },
    );
    trial.service.on('user_details', json({ username: 'ann', role: 'clerk' }));
    await trial.status('/me', 'token');
    return trial;
  }

  it.each(['/handler/fresh', '/all/fresh', '/all/roles', '/open/fresh'])(
    'asks the service each time: %s',
    async (path) => {
      const { service, status, calls } = await withCachedSession();
      expect([await status(path, 'token'), await status(path, 'token'), calls()]).toEqual([200, 200, 3]);

      service.on('user_details', reply(401));
      expect(await status(path, 'token')).toBe(401);
    },
  );

  it.each(['/handler/recent', '/all/recent'])('with maxAgeMs uses an entry of that age: %s', async (path) => {
    const { status, calls } = await withCachedSession();
    const asked: number[] = [];
    for (const ms of [0, 2_999, 1, 2_999, 1]) {
      clock.advance(ms);
      await status(path, 'token');
      asked.push(calls());
    }

    expect(asked).toEqual([1, 1, 2, 2, 3]);
  });

  it('closes a handler of a @Public() controller, and leaves the others open', async () => {
    const { status, calls } = await withCachedSession();

    expect([await status('/open/fresh'), await status('/open/public'), calls()]).toEqual([401, 200, 1]);
  });

  it('adds to other rules: all must hold', async () => {
    const { status, calls } = await withCachedSession();

    expect([await status('/handler/boss', 'token'), calls()]).toEqual([403, 2]);
  });

  it('refreshes the entry for other routes too', async () => {
    const { status, calls } = await withCachedSession();
    clock.advance(9_000);
    await status('/handler/fresh', 'token');
    clock.advance(9_999);

    expect([await status('/me', 'token'), calls()]).toEqual([200, 2]);
  });

  it('has an equivalent in code: verify() with maxAgeMs', async () => {
    const { service, sessions, calls } = await withCachedSession();
    clock.advance(2_999);
    await sessions.verify('token', { maxAgeMs: 3_000 });
    expect(calls()).toBe(1);

    clock.advance(1);
    service.on('user_details', reply(401));
    await sessions.verify('token');
    expect(await errorOf(sessions.verify('token', { maxAgeMs: 3_000 }))).toMatchObject({
      code: 'SESSION_REJECTED',
    });
    expect(calls()).toBe(2);
  });
});
