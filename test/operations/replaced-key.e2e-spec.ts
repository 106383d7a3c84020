import { describe, expect, it } from '@jest/globals';
import { SessionAuthEvents } from 'nestjs-session-auth';
import { json, reply, type Script } from 'nestjs-session-auth/testing';
import { CapturedLog } from '../support/captured-log.js';
import { handClock } from '../support/hand-clock.js';
import { platforms, type RunningApp } from '../support/platforms.js';
import type { ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

const LINE =
  'key refused: the session service refuses several users, and has accepted sessions before: apiKey or baseUrl is probably wrong now';

describe.each(platforms('Fastify'))(
  'the application key is replaced by a wrong one on %s',
  (_name, platform) => {
    const bed = testbed(platform);
    const clock = handClock();

    /**
     * An application that has accepted sessions of these users, and whose service then answers with a status.
     */
    async function refusing(usernames: readonly string[], status: number, cache: object = {}) {
      const log = new CapturedLog();
      const service = await bed.service();
      const app = await bed.sample(
        { baseUrl: service.url, options: { retry: false, ...cache } },
        { logger: log },
      );
      const tokens = usernames.map((username) => service.signInAs({ username }));
      expect(await statuses(app, tokens)).toEqual(tokens.map(() => 200));
      service.on('user_details', reply(status));
      return { log, service, app, tokens };
    }

    async function statuses(app: RunningApp, tokens: readonly string[]): Promise<number[]> {
      const found: number[] = [];
      for (const token of tokens) found.push((await app.get('/me', token)).status);
      return found;
    }

    const stateOf = ({ app }: RunningApp): unknown => app.get(SessionAuthEvents).serviceStatus;
    const accept = (service: ScriptedService, script: Script): void => service.on('user_details', script);
    const users = (count: number): string[] => Array.from({ length: count }, (_, index) => `user-${index}`);

    it.each([
      [403, 403, 3, {}],
      [404, 401, 5, {}],
      [403, 403, 3, { cache: { ttlMs: 30_000 } }],
    ])(
      'and the service answers %i: users get %i, one error line and `degraded`, until a session is accepted [P36]',
      async (...row) => {
        const [status, answer, count, cache] = row;
        const { log, service, app, tokens } = await refusing(users(count), status, cache);
        clock.advance(30_000);
        expect(await statuses(app, [...tokens, ...tokens])).toEqual([...tokens, ...tokens].map(() => answer));

        expect(log.having('error', LINE)).toHaveLength(1);
        expect(stateOf(app)).toMatchObject({ state: 'degraded', misconfigurationSuspected: true });
        accept(service, json({ username: 'user-0' }));
        expect(await statuses(app, tokens)).toEqual(tokens.map(() => 200));
        expect(stateOf(app)).toMatchObject({ state: 'up', misconfigurationSuspected: false });
        clock.advance(60_000);
        expect(await statuses(app, tokens)).toEqual(tokens.map(() => 200));
        const over = log.having('log', 'key refused: over after ');
        expect(over).toEqual([expect.stringContaining(`, ${count + 1} failed`)]);
      },
    );
  },
);
