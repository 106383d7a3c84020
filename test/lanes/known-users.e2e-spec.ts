import { describe, expect } from '@jest/globals';
import { HealthIndicatorService } from '@nestjs/terminus';
import { SessionAuthEvents, SessionAuthService } from 'nestjs-session-auth';
import { SessionAuthHealthIndicator } from 'nestjs-session-auth/terminus';
import { hold, json, reply, type Script } from 'nestjs-session-auth/testing';
import { platforms } from '../support/platforms.js';
import { IV, TOKEN } from '../support/trial/canaries.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN, type Ask, type Trial } from '../support/trial/trial.js';

const KNOWN = 5;

const token = (kind: string, index: number): string => `${TOKEN}-${kind}-${index}`;
const asks =
  (kind: string) =>
  (index: number): Ask => ({ token: token(kind, index) });

/** Answers every kind of users but one, which gets the fault. */
function faultFor(kind: string, fault: Script): Script {
  return (request, ...call) =>
    (String(request.headers['x-auth-token']).includes(`-${kind}-`) ? fault : json(ANN))(request, ...call);
}

/** Known users: this instance has accepted each of them. */
async function letIn(trial: Trial): Promise<void> {
  trial.service.on('user_details', json(ANN));
  expect(await trial.flood(KNOWN, asks('known'))).toEqual({ 200: KNOWN });
}

function statusOf({ app }: Trial): unknown {
  return app.app.get(SessionAuthEvents).serviceStatus;
}

async function healthOf({ app }: Trial, probe: boolean): Promise<unknown> {
  const [events, sessions] = [app.app.get(SessionAuthEvents), app.app.get(SessionAuthService)];
  const indicator = new SessionAuthHealthIndicator(new HealthIndicatorService(), events, sessions);
  return (await indicator.isHealthy('health', { probe })).health.status;
}

const CLOSED = { known: 'closed', strangers: 'closed' };
const UP = { state: 'up', breakers: CLOSED, misconfigurationSuspected: false, failedChecks: 0 };

describe.each(platforms('Fastify'))('one caller that provokes failures on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'unknown tokens for which the service fails open the breaker of strangers alone [P09]',
    async (trial) => {
      await letIn(trial);
      trial.service.on('user_details', faultFor('junk', reply(500)));
      expect(await trial.flood(60, asks('junk'), 1)).toEqual({ 503: 60 });

      expect(await trial.flood(KNOWN, asks('known'))).toEqual({ 200: KNOWN });
      const breakers = { ...CLOSED, strangers: 'open' };
      expect(statusOf(trial)).toMatchObject({ ...UP, state: 'degraded', breakers });
      expect([await healthOf(trial, false), await healthOf(trial, true)]).toEqual(['up', 'up']);
    },
    {
      options: { retry: false },
      recover: (trial) =>
        trial.sessions.userDetails(token('known', 0), { authIv: IV }).then(() => waitForProbe(trial)),
    },
  );
});

/** The pause of the strangers' breaker is a second. */
async function waitForProbe(trial: Trial): Promise<void> {
  while ((await trial.status(asks('probe')(0))) !== 200) await new Promise(setImmediate);
}

describe.each(platforms('Fastify'))('a flood of junk on %s', (_name, platform) => {
  const row = rowsOn(platform);
  const limits = { maxInFlight: 8, maxQueued: 16 };

  row(
    'known users are served by a service that is busy with junk, at the first attempt [P10]',
    async (trial) => {
      await letIn(trial);
      const held = hold(faultFor('junk', reply(401)));
      trial.service.on('user_details', held.script);
      const junk = trial.flood(200, asks('junk'));
      await held.arrived;
      while (trial.answers.length < KNOWN + 200 - 24) await new Promise(setImmediate);
      const known = trial.flood(KNOWN, asks('known'));
      while (trial.answers.length < KNOWN + 200 - 24 + KNOWN) await new Promise(setImmediate);
      held.release();

      expect(await known).toEqual({ 200: KNOWN });
      expect(await junk).toEqual({ 401: 24 - KNOWN, 503: 176 + KNOWN });
    },
    { options: { ...limits, timeoutMs: 60_000 } },
  );
});

describe.each(platforms('Fastify'))('junk after a start on %s', (_name, platform) => {
  const row = rowsOn(platform);

  row(
    'sixty refused tokens are one error in the log; the state is degraded, and health does not fail [P13]',
    async (trial) => {
      trial.service.on('user_details', reply(401));
      expect(await trial.flood(60, asks('junk'))).toEqual({ 401: 60 });

      expect(statusOf(trial)).toMatchObject({ ...UP, state: 'degraded', misconfigurationSuspected: true });
      expect([await healthOf(trial, false), await healthOf(trial, true)]).toEqual(['up', 'up']);
      expect(trial.log.having('error', 'every token has been refused')).toHaveLength(1);
      await letIn(trial);
      expect(statusOf(trial)).toMatchObject(UP);
    },
  );
});
