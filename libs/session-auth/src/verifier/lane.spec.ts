import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Deadline } from '../client/deadline.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { LaneName } from '../contract/diagnostics.js';
import type { TokenKey } from '../contract/session-identity.js';
import { LaneBreaker } from './lane-breaker.js';
import { Lane } from './lane.js';
import { StrangersLimit } from './strangers-limit.js';

const TOOK_MS = 120;

afterEach(() => void jest.restoreAllMocks());

/**
 * Makes a call that takes 120 ms in each lane. Returns the durations that their pace and the limit received.
 */
async function durationsOf(verdict: Verdict<string>, throws?: 'at once' | 'later') {
  let now = 1_000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const settings = { timeoutMs: 3_000, maxAttempts: 1, maxInFlight: 10, maxQueued: 0 };
  const limit = new StrangersLimit(settings);
  const [byStranger, byKnown, enforced] = [
    jest.spyOn(limit, 'record'),
    jest.spyOn(limit, 'recordKnown'),
    jest.spyOn(limit, 'enforce'),
  ];
  const shares = { share: 1, queueShare: 1 };
  const callIn = async (name: LaneName): Promise<[answer: Verdict<string>, usualMs: number]> => {
    const lane = new Lane(name, shares, new LaneBreaker(undefined), limit, settings);
    const deadline = new Deadline(60_000);
    const attempt = (): Promise<Verdict<string>> => {
      now += TOOK_MS;
      const error = new Error('of the application');
      if (throws === 'at once') throw error;
      return throws ? Promise.reject(error) : Promise.resolve(verdict);
    };
    now = 1_000;
    const answer = await lane.call(attempt, 'token' as TokenKey, deadline);
    deadline.clear();
    return [answer, lane.pace.usualMs];
  };
  const stranger = await callIn('strangers');
  expect(enforced).not.toHaveBeenCalled();
  expect(await callIn('known')).toEqual(stranger);
  expect(enforced.mock.calls).toEqual([[1_000]]);
  const [answer, usualMs] = stranger;
  return { answer, usualMs, limits: [byStranger.mock.calls, byKnown.mock.calls] };
}

describe('a call in a lane', () => {
  const recorded = [[[TOOK_MS, 1_000 + TOOK_MS, 0]], [[TOOK_MS, 1_000 + TOOK_MS]]];

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
