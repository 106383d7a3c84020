import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, NotFoundException } from '@nestjs/common';
import { Authorize, SessionAuthEvents, type ServiceStatus } from 'nestjs-session-auth';
import { json, reply } from 'nestjs-session-auth/testing';
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
    return { log, service, app, tokens };
  }

  const statusOf = ({ app }: RunningApp): ServiceStatus => app.get(SessionAuthEvents).serviceStatus;
  /** The lines of the library after that of the start. */
  const linesOf = ({ lines }: CapturedLog): string[] =>
    lines
      .filter((line) => line.endsWith(' SessionAuth'))
      .map((line) => line.replace(/ SessionAuth$/, ''))
      .slice(1);

  it('a service that answers 503 for ten minutes with three requests a minute [P37]', async () => {
    const cause = 'service failing';
    const { log, service, app, tokens } = await running();
    service.on('user_details', reply(503));
    for (let spent = 0; spent < 30; spent += 1) {
      const token = tokens[spent % 2];
      expect((await app.get('/me', token)).status).toBe(503);
      clock.advance(20_000);
    }

    const line = `warn ${cause}: checks get 503: the session service answers 503`;
    expect(linesOf(log)).toEqual([expect.stringContaining(line)]);
    expect(statusOf(app)).toMatchObject({
      state: 'down',
      failedChecks: 30,
      breakers: { known: 'closed' },
      causes: [{ cause, subject: 'checks', failures: 30 }],
    });
    service.on('user_details', json({ username: 'ann' }));
    expect((await app.get('/me', tokens[0])).status).toBe(200);
    clock.advance(MINUTE_MS);
    expect((await app.get('/me', tokens[0])).status).toBe(200);
    expect(linesOf(log).slice(1)).toEqual([`log ${cause}: over after 600 s, 30 failed (checks)`]);
    expect(statusOf(app)).toMatchObject({ state: 'up', failedChecks: 0, causes: [] });
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
