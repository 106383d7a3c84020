import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { sessionKeysOf } from '../contract/session-identity.js';
import { type Deadline, Deadlines } from '../client/deadline.js';
import { UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { LaneSettings } from './lanes.js';
import { type CallService, Lanes } from './lanes.js';

const session = { token: 'token', authIv: undefined };
const down = unavailable('server_error');
const breaker = { windowMs: 60_000, minimumCalls: 1, failureRatio: 1, pauseMs: 60_000, maxPauseMs: 60_000 };

/** A check whose service answers when the test says so. */
function checkWith(settings: Partial<LaneSettings> = {}, callService?: CallService<string>) {
  const pending: ((verdict: Verdict<string>) => void)[] = [];
  const given: Deadline[] = [];
  const deadlines = new Deadlines();
  const waiting: CallService<string> = (_session, deadline) => {
    given.push(deadline);
    return new Promise((resolve) => pending.push(resolve));
  };
  const limits = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 1, maxQueued: 1, ...settings };
  const check = new Lanes(callService ?? waiting, deadlines, limits);
  return {
    run: (spentMs?: number) => check.call(session, sessionKeysOf(session), spentMs),
    deadlines,
    given,
    calls: () => given.length,
    answer: (verdict: Verdict<string>) => pending.pop()?.(verdict),
  };
}

afterEach(() => void jest.restoreAllMocks());

describe('a check', () => {
  it('leaves no timer running', async () => {
    const { run, answer, deadlines, given } = checkWith();
    const verdict = run();
    answer(UNAUTHENTICATED);
    expect(await verdict).toBe(UNAUTHENTICATED);
    void deadlines.close();
    expect(given.map(({ ended }) => ended)).toEqual([undefined]);
  });

  it('makes no call if too little of its time is left, and is busy', async () => {
    const { run, calls } = checkWith();
    expect(await run(55_000)).toEqual(unavailable('busy', 1));
    expect(calls()).toBe(0);
  });

  it('makes a call while enough of its time is left', async () => {
    const { run, answer, calls } = checkWith();
    const verdict = run(50_000);
    answer(UNAUTHENTICATED);
    expect([await verdict, calls()]).toEqual([UNAUTHENTICATED, 1]);
  });

  it('makes no call after its time has ended in the queue', async () => {
    const { run, answer, calls, deadlines } = checkWith();
    const first = run();
    const waiting = run();
    void deadlines.close();
    expect(await waiting).toEqual(unavailable('shutting_down'));
    answer(UNAUTHENTICATED);
    await first;
    expect(calls()).toBe(1);
  });
});

describe('a check while the circuit is open', () => {
  it('is denied immediately, even while the check that opened it holds the place', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.99);
    const { run, answer, calls } = checkWith({ maxAttempts: 2, maxQueued: 0, breaker });
    const failing = run();
    answer(down);
    await new Promise(setImmediate);
    expect(await run()).toMatchObject({ reason: 'circuit_open' });
    expect(await failing).toMatchObject({ reason: 'circuit_open' });
    expect(calls()).toBe(1);
  });

  it('does not wait for a place', async () => {
    const { run, answer, calls, deadlines } = checkWith({ maxInFlight: 2, maxQueued: 5, breaker });
    void run();
    const failing = run();
    const queued = run();
    answer(down);
    expect(await failing).toEqual(down);
    expect(await queued).toMatchObject({ reason: 'circuit_open' });
    expect(calls()).toBe(2);
    void deadlines.close();
  });
});

describe('a check whose listener throws', () => {
  /** Fails until the breaker opens, and then, after the pause, probes. */
  function failingCheck() {
    jest.useFakeTimers();
    const states: string[] = [];
    const deadlines = new Deadlines();
    const limits = {
      timeoutMs: 60_000,
      maxAttempts: 1,
      maxInFlight: 1,
      maxQueued: 0,
      breaker: { ...breaker, pauseMs: 1_000 },
    };
    const breakerChanged = (lane: string, state: string): void => {
      states.push(`${lane} ${state}`);
      throw new Error('of the application');
    };
    const check = new Lanes<string>(() => Promise.resolve(down), deadlines, limits, {
      breakerChanged,
    });
    return {
      states,
      deadlines,
      run: (token: string) => check.call({ ...session, token }, sessionKeysOf({ ...session, token })),
    };
  }

  afterEach(() => void jest.useRealTimers());

  it('releases its place and its deadline, when the breaker opens and when it probes', async () => {
    const { states, deadlines, run } = failingCheck();
    await expect(run('a')).rejects.toThrow('of the application');
    jest.advanceTimersByTime(2_000);
    await expect(run('b')).rejects.toThrow('of the application');
    expect(await run('c')).toMatchObject({ reason: 'circuit_open' });
    expect([states, jest.getTimerCount()]).toEqual([['strangers open', 'strangers halfOpen'], 0]);
    await deadlines.close();
  });
});
