import { describe, expect } from '@jest/globals';
import { Controller, Get, Req, UseGuards } from '@nestjs/common';
import { CurrentUser, SessionAuthGuard, type UserRecord } from 'nestjs-session-auth';
import { json, reply } from 'nestjs-session-auth/testing';
import { platforms } from '../support/platforms.js';
import { handClock } from '../support/hand-clock.js';
import { PASSWORD, TOKEN } from '../support/trial/canaries.js';
import { HandlerRuns } from '../support/trial/faults-app.js';
import { rowsOn } from '../support/trial/row.js';
import { ANN } from '../support/trial/trial.js';

type Loose = Record<string, unknown> & { ccl_info: Record<string, unknown> };

/** Tries to make more of its user than the service said. */
@Controller()
@UseGuards(SessionAuthGuard)
class MutatingController {
  constructor(private readonly runs: HandlerRuns) {}

  @Get('me')
  me(@CurrentUser() user: UserRecord): UserRecord {
    this.runs.count += 1;
    return user;
  }

  @Get('change')
  change(@Req() request: { user: Loose }): unknown {
    this.runs.count += 1;
    const asItWas = structuredClone(Object.assign({}, request.user));
    for (const change of [
      () => (request.user.role = 'admin'),
      () => (request.user.ccl_info.client_id = 1),
      () => Object.setPrototypeOf(request.user, { sub_role: 'admin' }) as unknown,
    ]) {
      try {
        change();
      } catch {
        // A frozen user throws; the test checks the user of the next request.
      }
    }
    request.user = { role: 'admin', ccl_info: {} };
    return asItWas;
  }
}

const CACHE = { cache: { ttlMs: 10_000, negativeTtlMs: 2_000 } };

describe.each(platforms('Fastify'))('the cache of a session on %s', (_name, platform) => {
  const row = rowsOn(platform);
  const clock = handClock();

  row(
    'a handler that changes request.user, its ids too, does not affect the next request [G04]',
    async (trial) => {
      const record = { ...ANN, ccl_info: { client_id: 7 } };
      trial.service.on('user_details', json(record));
      for (const path of ['/change', '/change', '/me'])
        expect(JSON.parse((await trial.ask({ path })).body)).toEqual(record);
      expect(trial.calls()).toBe(1);
    },
    { options: CACHE, controllers: [MutatingController] },
  );

  row(
    'a session is checked again when its entry has expired, and not before, however often it is used [G05]',
    async (trial) => {
      const calls: number[] = [];
      for (const ms of [0, 5_000, 4_999, 1, 0]) {
        clock.advance(ms);
        expect(await trial.status()).toBe(200);
        calls.push(trial.calls());
      }
      expect(calls).toEqual([1, 1, 1, 2, 2]);
    },
    { options: CACHE },
  );

  row(
    'a refused token that is presented 50 times within negativeTtlMs causes one call [G07]',
    async (trial) => {
      expect(await trial.flood(50, () => ({ token: 'bad' }), 1)).toEqual({ 401: 50 });
      expect(trial.calls()).toBe(1);
    },
    { options: CACHE },
  );

  row(
    'a token that was refused and then issued by a sign-in is checked again, and gets 200 [G08]',
    async (trial) => {
      const token = `${TOKEN}-later`;
      expect(await trial.status({ token })).toBe(401);
      trial.service.signInAs(ANN, token);
      trial.service.on('sign_in', json({ ...ANN, auth_token: token }));
      await trial.sessions.signIn({ username: 'ann', password: PASSWORD });
      expect([await trial.status({ token }), trial.calls()]).toEqual([200, 2]);
    },
    { options: CACHE },
  );

  row(
    'an outage is never cached: the next request makes a call [G10]',
    async (trial) => {
      for (const script of [reply(500), json({})]) {
        trial.service.on('user_details', script);
        expect(await trial.status()).toBe(503);
      }
      trial.service.on('user_details', json(ANN));
      expect([await trial.status(), trial.calls()]).toEqual([200, 3]);
    },
    { options: { ...CACHE, retry: false } },
  );
});
