import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Deadlines } from '../client/deadline.js';
import { UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { LaneName } from '../contract/diagnostics.js';
import { sessionKeysOf } from '../contract/session-identity.js';
import { Lanes, Pace } from './lanes.js';
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

  it.each<[Verdict<string>, usualMs: number, limits: unknown]>([
    [{ kind: 'authenticated', user: 'ann' }, TOOK_MS, recorded],
    [UNAUTHENTICATED, TOOK_MS, recorded],
    [unavailable('timeout'), 0, recorded],
    [unavailable('unreachable'), 0, [[], []]],
  ])(
    'determines the pace if it is answered, and the limit of strangers also if it times out: %j',
    async (answer, usualMs, limits) => {
      expect(await durationsOf(answer)).toEqual({ answer, usualMs, limits });
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

function paceAfter(...durationsMs: number[]): Pace {
  const pace = new Pace(3_000);
  for (const durationMs of durationsMs) pace.record(durationMs);
  return pace;
}

describe('the pace of a lane', () => {
  it('is 0 at first, then the first duration, then a moving average', () => {
    expect([paceAfter(), paceAfter(400), paceAfter(400, 800)].map(({ usualMs }) => usualMs)).toEqual([
      0, 400, 450,
    ]);
    expect(paceAfter(400, ...Array<number>(50).fill(800)).usualMs).toBeCloseTo(800, -1);
  });

  it('requires twice the usual duration to begin a call, and at most half of the total time', () => {
    expect([0, 5, 450, 2_900].map((ms) => paceAfter(ms).neededMs)).toEqual([300, 300, 900, 1_500]);
  });

  it('considers twice the usual duration a full time, and at least half of the total time', () => {
    expect([0, 450, 1_000, 2_900].map((ms) => paceAfter(ms).fullMs)).toEqual([1_500, 1_500, 2_000, 2_700]);
  });
});
