import { describe, expect } from '@jest/globals';
import { hold, json, reply, type Script } from 'nestjs-session-auth/testing';
import { once } from 'node:events';
import { connect } from 'node:net';
import { PLATFORMS } from '../support/platforms.js';
import { TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN, type Trial } from '../support/trial/trial.js';

const CACHE = { cache: { ttlMs: 10_000, negativeTtlMs: 2_000 } };

/** Counts the requests that have reached the guard, and resolves when so many are there. */
function arrivals(count: number) {
  let arrived = 0;
  let tell: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (tell = resolve));
  const token = (): string => {
    arrived += 1;
    if (arrived === count) tell();
    return TOKEN;
  };
  return { all, token };
}

describe.each(PLATFORMS)('shared calls on %s', (_name, platform) => {
  const row = rowsOn(platform);
  const [hundred, twenty, six] = [arrivals(100), arrivals(20), arrivals(6)];

  /** The statuses of so many requests, of which the first answer waits until all have come. */
  async function together(trial: Trial, count: number, all: Promise<void>, answer: Script): Promise<Record<number, number>> {
    const held = hold(answer);
    trial.service.on('user_details', held.script);
    const statuses = trial.flood(count, () => ({}));
    await all;
    held.release();
    return statuses;
  }

  row(
    '100 requests that bring one token at the same time share one call, and all get 200 [G01]',
    async (trial) => {
      expect(await together(trial, 100, hundred.all, json(ANN))).toEqual({ 200: 100 });
      expect(trial.calls()).toBe(1);
    },
    { options: { token: hundred.token, ...CACHE } },
  );

  row(
    'a shared call that fails makes 503 of all its callers, after two calls at most [G02]',
    async (trial) => {
      expect(await together(trial, 20, twenty.all, reply(500))).toEqual({ 503: 20 });
      expect(trial.calls()).toBeLessThanOrEqual(2);
    },
    { options: { token: twenty.token, ...CACHE } },
  );

  row(
    'the first caller may go away: the call goes on, and the others get 200 [G03]',
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
    { options: { token: six.token, ...CACHE } },
  );
});
