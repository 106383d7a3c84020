import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, NotFoundException } from '@nestjs/common';
import { Authorize, SessionAuthEvents, SessionAuthService, type ServiceStatus } from 'nestjs-session-auth';
import { json, reply, type Script } from 'nestjs-session-auth/testing';
import { errorOf } from '../support/caching-app.js';
import { CapturedLog } from '../support/captured-log.js';
import { handClock } from '../support/hand-clock.js';
import { platforms, type RunningApp } from '../support/platforms.js';
import { MeController } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';

const MINUTE_MS = 60_000;
class DatabaseError extends Error {}

let rule: () => boolean = () => true;
afterEach(() => {
  rule = () => true;
});

@Controller('openings')
class OpeningsController {
  @Get()
  @Authorize(() => rule())
  list(): string {
    return 'in';
  }
}

describe.each(platforms('Express'))('nothing fails in silence on %s', (_name, platform) => {
  const bed = testbed(platform);
  const clock = handClock();

  /** An application with default options, whose users `ann` and `bob` have been accepted once. */
  async function running() {
    const log = new CapturedLog();
    const service = await bed.service();
    const controllers = [MeController, OpeningsController];
    const app = await bed.sample({ baseUrl: service.url, controllers }, { logger: log });
    const tokens = ['ann', 'bob'].map((username) => service.signInAs({ username }));
    for (const token of tokens) expect((await app.get('/me', token)).status).toBe(200);
    return { log, service, app, tokens, sessions: app.app.get(SessionAuthService) };
  }

  const statusOf = ({ app }: RunningApp): ServiceStatus => app.get(SessionAuthEvents).serviceStatus;
  /** The lines of the library after that of the start. */
  const linesOf = ({ lines }: CapturedLog): string[] =>
    lines
      .filter((line) => line.endsWith(' SessionAuth'))
      .map((line) => line.replace(/ SessionAuth$/, ''))
      .slice(1);

  it.each<[string, Script, cause: string, affected: RegExp]>([
    ['answers 503', reply(503), 'service failing', /^checks get 503: the session service answers 503/],
    ['answers 429', reply(429), 'throttled', /^checks get 503: the session service answers 429/],
  ])(
    'a service that %s for ten minutes with three requests a minute [P37]',
    async (_what, script, cause, text) => {
      const { log, service, app, tokens } = await running();
      service.on('user_details', script);
      for (let spent = 0; spent < 30; spent += 1) {
        const token = tokens[spent % 2];
        expect((await app.get('/me', token)).status).toBe(503);
        clock.advance(20_000);
      }

      const [line = '', ...others] = linesOf(log);
      expect([line.startsWith(`warn ${cause}: `), others]).toEqual([true, []]);
      expect(line.slice(line.indexOf(': ') + 2)).toMatch(text);
      expect(statusOf(app)).toMatchObject({
        state: 'down',
        failedChecks: 30,
        breakers: { known: cause === 'throttled' ? 'open' : 'closed' },
        causes: [{ cause, subject: 'checks', failures: 30 }],
      });
      service.on('user_details', json({ username: 'ann' }));
      expect((await app.get('/me', tokens[0])).status).toBe(200);
      clock.advance(MINUTE_MS);
      expect((await app.get('/me', tokens[0])).status).toBe(200);
      expect(linesOf(log).slice(1)).toEqual([`log ${cause}: over after 600 s, 30 failed (checks)`]);
      expect(statusOf(app)).toMatchObject({ state: 'up', failedChecks: 0, causes: [] });
    },
  );

  it('a service that is not there: a refused connection, for checks, sign-ins and sign-outs', async () => {
    const { log, service, app, tokens, sessions } = await running();
    await service.close();
    for (const token of [...tokens, ...tokens]) expect((await app.get('/me', token)).status).toBe(503);
    await errorOf(sessions.signIn({ username: 'ann', password: 'x' }));
    await errorOf(sessions.signOut(tokens[0] ?? ''));

    const text = 'get 503: the connection to the session service failed with E';
    expect(linesOf(log)).toEqual(
      ['checks', 'sign-ins', 'sign-outs'].map((calls) =>
        expect.stringContaining(`warn service unreachable: ${calls} ${text}`),
      ),
    );
    expect(statusOf(app)).toMatchObject({ state: 'down', failedChecks: 4 });
  });

  it('a service that answers one call in two is one cause, and the state is degraded throughout [P37]', async () => {
    const { log, service, app, tokens } = await running();
    for (let turn = 0; turn < 30; turn += 1) {
      service.on('user_details', turn % 2 === 0 ? reply(500) : json({ username: 'ann' }));
      await app.get('/me', tokens[(turn >> 1) % 2]);
      if (turn > 5) expect(statusOf(app).state).toBe('degraded');
      clock.advance(4_000);
    }
    expect(linesOf(log)).toEqual([expect.stringMatching(/^warn service failing: /)]);
  });

  it.each<[string, rule: () => boolean, status: number]>([
    ['admits', () => true, 200],
    [
      'hides what it denies',
      () => {
        throw new NotFoundException();
      },
      404,
    ],
  ])(
    'a rule whose database is down: 503, one line, degraded, and a line when it %s again [P34]',
    async (_what, again, status) => {
      const { log, app, tokens } = await running();
      rule = () => {
        throw new DatabaseError('postgres://app:hunter2@db');
      };
      for (let call = 0; call < 3; call += 1)
        expect((await app.get('/openings', tokens[0])).status).toBe(503);
      expect(linesOf(log)).toEqual([
        expect.stringMatching(
          /^warn rule failed: @Authorize\(.*\) of OpeningsController\.list failed with DatabaseError\. Its calls get 503/,
        ),
      ]);
      expect(statusOf(app)).toMatchObject({
        state: 'degraded',
        causes: [{ cause: 'rule failed', failures: 3 }],
      });

      rule = again;
      clock.advance(20_000);
      for (let call = 0; call < 2; call += 1) {
        expect((await app.get('/openings', tokens[0])).status).toBe(status);
        clock.advance(MINUTE_MS);
      }
      expect(linesOf(log).slice(1)).toEqual([
        expect.stringMatching(
          /^log rule failed: over after 20 s, 3 failed \(@Authorize\(.*\) of OpeningsController\.list\)/,
        ),
      ]);
      expect(statusOf(app).state).toBe('up');
    },
  );
});
