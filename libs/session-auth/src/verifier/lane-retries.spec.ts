import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Deadline, Deadlines } from '../client/deadline.js';
import { UNAUTHENTICATED, unavailable, type UnavailableReason, type Verdict } from '../contract/outcome.js';
import { sessionKeysOf } from '../contract/session-identity.js';
import { Lanes } from './lanes.js';

const session = { token: 'token', authIv: undefined };

/** Lanes that have no breaker, whose service gives the verdicts of the current check. */
function laneOf(maxAttempts = 2, timeoutMs = 490) {
  const service: { verdicts: readonly Verdict<string>[]; deadline?: Deadline; calls: number } = {
    verdicts: [],
    calls: 0,
  };
  const deadlines = new Deadlines();
  jest.spyOn(deadlines, 'start').mockImplementation(() => service.deadline ?? new Deadline(60_000));
  const call = (): Promise<Verdict<string>> =>
    Promise.resolve(
      service.verdicts[Math.min(service.calls++, service.verdicts.length - 1)] ?? UNAUTHENTICATED,
    );
  const settings = { timeoutMs, maxAttempts, maxInFlight: 10, maxQueued: 0 };
  return { service, lanes: new Lanes(call, deadlines, settings) };
}

/**
 * Returns how many attempts a check of a known session makes. Without one of its own, its deadline is in a
 * minute.
 */
async function attemptsFor(
  verdicts: readonly Verdict<string>[],
  { service, lanes } = laneOf(),
  deadline?: Deadline,
): Promise<number> {
  Object.assign(service, { verdicts, deadline, calls: 0 });
  await lanes.call(session, sessionKeysOf(session), 0, 'known');
  return service.calls;
}

/** A deadline that ends while the first attempt is made, or in the pause after it. */
function deadlineEndingIn(when: 'attempt' | 'pause'): Deadline {
  const deadline = new Deadline(60_000);
  const ends = when === 'pause' ? [undefined, undefined] : [undefined];
  return Object.defineProperty(deadline, 'ended', {
    get: () => (ends.length > 0 ? ends.pop() : 'timeout'),
  });
}

const failing = [unavailable('unreachable')];

/** Uses all retries of a lane. */
async function drain(lane: ReturnType<typeof laneOf>): Promise<number> {
  let retries = 0;
  while (retries < 100 && (await attemptsFor(failing, lane)) === 2) retries += 1;
  return retries;
}

afterEach(() => void jest.restoreAllMocks());

describe('a check that fails', () => {
  it.each<[UnavailableReason, number]>([
    ['unreachable', 2],
    ['server_error', 2],
    ['timeout', 1],
    ['rate_limited', 1],
    ['malformed', 1],
  ])('as %s is attempted %i times', async (reason, attempts) => {
    expect(await attemptsFor([unavailable(reason)])).toBe(attempts);
  });

  it('is not repeated after a refusal, nor beyond its attempts, nor after its deadline', async () => {
    expect(await attemptsFor([UNAUTHENTICATED], laneOf(5))).toBe(1);
    expect(await attemptsFor(failing, laneOf(3))).toBe(3);
    expect(await attemptsFor(failing, laneOf(3), deadlineEndingIn('attempt'))).toBe(1);
    expect(await attemptsFor(failing, laneOf(3), deadlineEndingIn('pause'))).toBe(1);
    expect(await attemptsFor([...failing, UNAUTHENTICATED], laneOf(3))).toBe(2);
  });

  it('on a connection that the service had closed is repeated immediately, and costs no retry', async () => {
    const lane = laneOf();
    await drain(lane);
    const closed = { ...unavailable('unreachable'), staleConnection: true } as const;
    expect(await attemptsFor([closed, UNAUTHENTICATED], lane)).toBe(2);
    expect(await attemptsFor([...failing, UNAUTHENTICATED], lane)).toBe(1);
  });
});

describe('the pause before another attempt', () => {
  const deadlineIn = (remainingMs: number): Deadline => {
    const deadline = new Deadline(60_000);
    jest.spyOn(deadline, 'remainingMs', 'get').mockReturnValue(remainingMs);
    return deadline;
  };

  it('is skipped if it would outlast the deadline, and then costs no retry', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.99);
    const lane = laneOf();
    for (let check = 0; check < 20; check += 1)
      expect(await attemptsFor(failing, lane, deadlineIn(49))).toBe(1);
    jest.spyOn(Math, 'random').mockReturnValue(0);
    expect(await drain(lane)).toBe(10);
  });

  it('is skipped if a usual call after it would outlast the deadline', async () => {
    const lane = laneOf(2, 3_000);
    expect(await attemptsFor(failing, lane, deadlineIn(850))).toBe(2);
    lane.lanes.lanes.known.pace.record(450);
    expect(await attemptsFor(failing, lane, deadlineIn(850))).toBe(1);
  });

  it('is at most 50 ms, and doubles with each further attempt', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.99);
    const attempts = [98, 99, 147, 149].map((ms) => attemptsFor(failing, laneOf(3), deadlineIn(ms)));
    expect(await Promise.all(attempts)).toEqual([1, 2, 2, 3]);
  });

  it('is skipped, with the attempt, after the deadline, also on a connection that the service had closed', async () => {
    const closed = { ...unavailable('unreachable'), staleConnection: true } as const;
    expect(await attemptsFor([closed], laneOf(), deadlineEndingIn('attempt'))).toBe(1);
  });
});

describe('the retries of a lane', () => {
  beforeEach(() => void jest.spyOn(Math, 'random').mockReturnValue(0));

  it('are earned by first attempts: less than one by ten [F05]', async () => {
    const lane = laneOf();
    await drain(lane);
    const succeed = async (checks: number): Promise<void> => {
      for (let check = 0; check < checks; check += 1) await attemptsFor([UNAUTHENTICATED], lane);
    };
    while ((await attemptsFor(failing, lane)) === 1);
    await succeed(9);
    expect(await attemptsFor(failing, lane)).toBe(1);
    await succeed(3);
    expect(await attemptsFor(failing, lane)).toBe(2);
    await succeed(100);
    expect(await drain(lane)).toBe(8);
  });

  it('never exceed ten', async () => {
    const lane = laneOf();
    for (let check = 0; check < 1_000; check += 1) await attemptsFor([UNAUTHENTICATED], lane);
    expect(await drain(lane)).toBe(10);
  });
});
