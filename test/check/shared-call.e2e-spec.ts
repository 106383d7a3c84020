import { describe, expect, it } from '@jest/globals';
import { SessionAuthService } from 'nestjs-session-auth';
import { once } from 'node:events';
import { connect } from 'node:net';
import { platforms } from '../support/platforms.js';
import { hold, json, reply, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
import { TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN, type Trial } from '../support/trial/trial.js';

describe.each(platforms('Express'))('the call that requests share on %s', (_name, platform) => {
  const bed = testbed(platform);

  it('is not joined after forgetUser: the next check starts a new one', async () => {
    const service = await bed.service();
    const before = hold(json(ANN));
    service.on('user_details', before.script);
    const app = await bed.sample({ baseUrl: service.url });
    const tokens = Array.from({ length: 10 }, (_, index) => `token-${index}`);
    const get = (): Promise<Response>[] => tokens.map((token) => app.get('/me', token));
    const early = get();
    await until('all calls', () => service.callsTo('user_details') === tokens.length);

    await app.app.get(SessionAuthService).forgetUser('ann');
    service.on('user_details', reply(401));
    const late = await Promise.all(get());
    before.release();

    expect(late.map(({ status }) => status)).toEqual(Array(10).fill(401));
    expect((await Promise.all(early)).map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(service.callsTo('user_details')).toBe(20);
  });
});

/** Counts the requests that have reached the guard, and resolves when `count` have arrived. */
function arrivals(count: number) {
  let arrived = 0;
  let arrive: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (arrive = resolve));
  const token = (): string => {
    arrived += 1;
    if (arrived === count) arrive();
    return TOKEN;
  };
  return { all, token };
}

describe.each(platforms('Express'))('shared calls on %s', (_name, platform) => {
  const row = rowsOn(platform);
  const [hundred, twenty, six] = [arrivals(100), arrivals(20), arrivals(6)];

  /** Returns the statuses of a number of requests. The first answer waits until all have arrived. */
  async function together(
    trial: Trial,
    count: number,
    all: Promise<void>,
    answer: Script,
  ): Promise<Record<number, number>> {
    const held = hold(answer);
    trial.service.on('user_details', held.script);
    const statuses = trial.flood(count, () => ({}));
    await all;
    held.release();
    return statuses;
  }

  row(
    '100 concurrent requests with one token share one call, and all get 200 [G01]',
    async (trial) => {
      expect(await together(trial, 100, hundred.all, json(ANN))).toEqual({ 200: 100 });
      expect(trial.calls()).toBe(1);
    },
    { options: { token: hundred.token, cache: { ttlMs: 10_000, negativeTtlMs: 2_000 } } },
  );

  row(
    'a shared call that fails makes 503 of all its callers, after two calls at most [G02]',
    async (trial) => {
      expect(await together(trial, 20, twenty.all, reply(500))).toEqual({ 503: 20 });
      expect(trial.calls()).toBeLessThanOrEqual(2);
    },
    { options: { token: twenty.token } },
  );

  row(
    'the first caller may disconnect: the call goes on, and the others get 200 [G03]',
    async (trial) => {
      const held = hold(json(ANN));
      trial.service.on('user_details', held.script);
      const first = connect(Number(new URL(trial.app.url).port), '127.0.0.1');
      trial.abandoned += 1;
      first.write('GET /me HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await held.arrived;
      const others = trial.flood(5, () => ({ iv: null }));
      await six.all;
      first.resetAndDestroy();
      await once(first, 'close');
      held.release();

      expect(await others).toEqual({ 200: 5 });
      expect(trial.calls()).toBe(1);
    },
    { options: { token: six.token } },
  );
});
