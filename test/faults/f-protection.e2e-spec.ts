import { describe, expect } from '@jest/globals';
import { hold, json, reply } from 'nestjs-session-auth/testing';
import { handClock } from '../memory/hand-clock.js';
import { PLATFORMS } from '../support/platforms.js';
import { TOKEN } from './canaries.js';
import { rowsOn } from './row.js';
import { ANN, type Ask } from './trial.js';

const anew =
  (prefix: string) =>
  (index: number): Ask => ({ token: `${TOKEN}-${prefix}-${index}` });

describe.each(PLATFORMS)('the circuit on %s', (_name, platform) => {
  const row = rowsOn(platform);
  const clock = handClock();
  const breaking = { options: { retry: false, breaker: { pauseMs: 7_000 } }, recover: () => clock.advance(7_000) } as const;

  row(
    'F01',
    'after 20 failures the circuit opens: 503 without a call, with the time that remains as Retry-After',
    async (trial) => {
      trial.service.on('user_details', reply(500));
      expect(await trial.flood(20, anew('failing'), 1)).toEqual({ 503: 20 });
      const told: (string | null)[] = [];
      for (const ms of [0, 3_500]) {
        clock.advance(ms);
        const { status, headers } = await trial.ask();
        told.push(`${status} ${headers.get('retry-after')}`);
      }

      expect(told).toEqual(['503 7', '503 4']);
      expect(trial.calls()).toBe(20);
    },
    breaking,
  );

  row(
    'F02',
    'after the pause one of 100 callers asks for all: the others get 503 meanwhile',
    async (trial) => {
      trial.service.on('user_details', reply(500));
      await trial.flood(20, anew('failing'), 1);
      const held = hold(json(ANN));
      trial.service.on('user_details', held.script);
      clock.advance(7_000);
      const probe = trial.status(anew('probe')(0));
      await held.arrived;
      expect(await trial.flood(99, anew('other'))).toEqual({ 503: 99 });
      held.release();

      expect([await probe, trial.calls()]).toEqual([200, 21]);
    },
    breaking,
  );

  row('F03', '1000 refused tokens leave the circuit closed', async (trial) => {
    trial.service.on('user_details', reply(401));
    expect(await trial.flood(1_000, anew('bad'), 50)).toEqual({ 401: 1_000 });
    expect(trial.calls()).toBe(1_000);
  });
});

describe.each(PLATFORMS)('bounds on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'F04',
    'a caller who finds every place taken, in flight and in the queue, gets 503 with Retry-After 1 at once',
    async (trial) => {
      const held = hold(json(ANN));
      trial.service.on('user_details', held.script);
      const inFlight = trial.status(anew('first')(0));
      await held.arrived;
      const { status, headers } = await trial.ask(anew('next')(0));
      held.release();

      expect([status, headers.get('retry-after'), await inFlight, trial.calls()]).toEqual([503, '1', 200, 1]);
    },
    { options: { maxInFlight: 1, maxQueued: 0 } },
  );

  row(
    'F05',
    'in a total outage 1000 callers make at most a tenth more calls than first attempts',
    async (trial) => {
      trial.service.on('user_details', reply(500));
      expect(await trial.flood(1_000, anew('caller'), 50)).toEqual({ 503: 1_000 });
      expect(trial.calls()).toBeGreaterThanOrEqual(1_000);
      expect(trial.calls()).toBeLessThanOrEqual(1_100);
    },
    { options: { breaker: false } },
  );
});
