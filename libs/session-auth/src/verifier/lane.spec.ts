import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Deadlines } from '../client/deadline.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { LaneName } from '../contract/diagnostics.js';
import { sessionKeysOf } from '../contract/session-identity.js';
import { Lanes } from './lanes.js';
import { StrangersLimit } from './strangers-limit.js';

const TOOK_MS = 120;
const session = { token: 'token', authIv: undefined };

afterEach(() => void jest.restoreAllMocks());

/**
 * Makes a call that takes 120 ms in each lane. Returns the durations that their pace and the limit received.
 */
async function durationsOf(verdict: Verdict<string>, throws?: 'at once' | 'later') {
  let now = 1_000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const settings = { timeoutMs: 3_000, maxAttempts: 1, maxInFlight: 10, maxQueued: 0 };
  const [byStranger, byKnown, enforced] = [
    jest.spyOn(StrangersLimit.prototype, 'record'),
    jest.spyOn(StrangersLimit.prototype, 'recordKnown'),
    jest.spyOn(StrangersLimit.prototype, 'enforce'),
  ];
  const attempt = (): Promise<Verdict<string>> => {
    now += TOOK_MS;
    const error = new Error('of the application');
    if (throws === 'at once') throw error;
    return throws ? Promise.reject(error) : Promise.resolve(verdict);
  };
  const lanes = new Lanes(attempt, new Deadlines(), settings);
  const callIn = async (name: LaneName): Promise<[answer: Verdict<string>, usualMs: number]> => {
    now = 1_000;
    const answer = await lanes.call(session, sessionKeysOf(session), 0, name);
    return [answer, lanes.lanes[name].pace.usualMs];
  };
  const stranger = await callIn('strangers');
  expect(enforced).not.toHaveBeenCalled();
  expect(await callIn('known')).toEqual(stranger);
  expect(enforced.mock.calls).toEqual([[1_000]]);
  const [answer, usualMs] = stranger;
  return { answer, usualMs, limits: [byStranger.mock.calls, byKnown.mock.calls] };
}

describe('a call in a lane', () => {
  const recorded = [[[TOOK_MS, 1]], [[TOOK_MS, 1_000 + TOOK_MS]]];

  it.each<Verdict<string>>([{ kind: 'authenticated', user: 'ann' }, UNAUTHENTICATED, FORBIDDEN])(
    'that is answered determines the pace and the limit of strangers: $kind',
    async (verdict) => {
      expect(await durationsOf(verdict)).toEqual({ answer: verdict, usualMs: TOOK_MS, limits: recorded });
    },
  );

  it('that times out determines the limit of strangers, and not the pace', async () => {
    expect(await durationsOf(unavailable('timeout'))).toMatchObject({ usualMs: 0, limits: recorded });
  });

  it.each(['unreachable', 'server_error', 'rate_limited'] as const)(
    'that fails otherwise determines neither: %s',
    async (reason) => {
      expect(await durationsOf(unavailable(reason))).toMatchObject({ usualMs: 0, limits: [[], []] });
    },
  );

  it.each(['at once', 'later'] as const)(
    'is malformed if code of the application, such as its logger, throws %s',
    async (throws) => {
      const thrown = await durationsOf(UNAUTHENTICATED, throws);
      expect(thrown).toEqual({ answer: unavailable('malformed'), usualMs: 0, limits: [[], []] });
    },
  );
});
