import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Deadlines } from '../client/deadline.js';
import { UNAUTHENTICATED, unavailable, type UnavailableReason, type Verdict } from '../contract/outcome.js';
import type { BreakerSettings } from './circuit-breaker.js';
import { KnownSessions } from './known-sessions.js';
import type { LaneSettings } from './lanes.js';
import { type CallService, Lanes } from './lanes.js';
import { SessionVerifier } from './session-verifier.js';

const BREAKER: BreakerSettings = {
  windowMs: 10_000,
  minimumCalls: 20,
  failureRatio: 0.5,
  pauseMs: 5_000,
  maxPauseMs: 30_000,
};
const SETTINGS: LaneSettings = {
  timeoutMs: 3_000,
  maxAttempts: 1,
  maxInFlight: 128,
  maxQueued: 1_024,
  breaker: BREAKER,
};
const down = unavailable('server_error');

type Service = (token: string, authIv: string | undefined) => Verdict<object>;

/** The user of a token `name-number`. */
const accept: Service = (token) => ({ kind: 'authenticated', user: { username: token.replace(/-.*/, '') } });
const fail: Service = () => down;

/** Lets time pass, and everything that is due happen. */
const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

/** A verifier without a cache, and a session service on the same virtual clock. */
function scene(settings: Partial<LaneSettings> = {}, known = new KnownSessions()) {
  const service = { answer: accept, tookMs: 10, calls: 0, inFlight: 0 };
  const callService: CallService<object> = ({ token, authIv }, deadline) =>
    new Promise((resolve) => {
      service.calls += 1;
      service.inFlight += 1;
      const settle = (verdict: Verdict<object>): void => {
        clearTimeout(timer);
        service.inFlight -= 1;
        resolve(verdict);
      };
      const { answer } = service;
      const timer = setTimeout(() => settle(answer(token, authIv)), service.tookMs);
      deadline.onEnd((end) => settle(unavailable(end)));
    });
  const verifier = new SessionVerifier<object>(
    new Lanes(callService, new Deadlines(), { ...SETTINGS, ...settings }, { known }),
  );
  /** Checks a session. Its outcome, and the time that it takes, are known when it settles. */
  const check = (token: string, authIv?: string, maxAgeMs?: number) => {
    const [startMs, outcome] = [performance.now(), { is: 'pending', afterMs: NaN }];
    void Promise.resolve(verifier.verify({ token, authIv }, maxAgeMs)).then((verdict) => {
      outcome.is = verdict.kind === 'unavailable' ? verdict.reason : verdict.kind;
      outcome.afterMs = performance.now() - startMs;
    });
    return outcome;
  };
  /** Checks each session at once. Returns the count of each outcome. */
  const checkAll = async (
    sessions: readonly string[],
    authIv?: (index: number) => string,
  ): Promise<Record<string, number>> => {
    const outcomes = sessions.map((token, index) => check(token, authIv?.(index)));
    await pass(service.tookMs);
    const counts: Record<string, number> = {};
    for (const { is } of outcomes) counts[is] = (counts[is] ?? 0) + 1;
    return counts;
  };
  /** The calls of the service that `act` causes. */
  const callsOf = async (act: () => Promise<unknown>): Promise<number> => {
    const before = service.calls;
    await act();
    return service.calls - before;
  };
  return { service, verifier, check, checkAll, callsOf };
}

const tokens = (user: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${user}-${index}`);
const FIVE_USERS = ['ann', 'bob', 'carol', 'dan', 'eve'];
const sessionsOf = (users: readonly string[], each: number): string[] =>
  users.flatMap((user) => tokens(user, each));

beforeEach(async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
  await pass(60_000);
});
afterEach(() => void jest.useRealTimers());

describe('the time limit of a check', () => {
  it.each([1, 10, 250, 3_000, 60_000])(
    'of %d ms is kept to the millisecond, in flight, in the queue and behind other calls',
    async (timeoutMs) => {
      const { service, check } = scene({ timeoutMs, maxInFlight: 2, breaker: undefined });
      service.tookMs = 120_000;
      const outcomes = [
        check('a'),
        check('a', undefined, 0),
        check('a', undefined, 0),
        check('b'),
        check('c'),
      ];
      await pass(timeoutMs - 1);
      expect(new Set(outcomes.map(({ is }) => is))).toEqual(new Set(['pending']));
      await pass(1);
      // A place becomes free for those in the queue when they have no time left.
      const ends = ['timeout', 'timeout', 'timeout', 'busy', 'busy'];
      expect(outcomes).toEqual(ends.map((is) => ({ is, afterMs: timeoutMs })));
    },
  );
});

describe('more checks than the service can answer in time', () => {
  it('are refused at once, and none of the others waits until its time is over', async () => {
    const { service, check, checkAll } = scene({ maxInFlight: 2 });
    service.tookMs = 1_000;
    await checkAll(['first']);
    const outcomes = tokens('new', 20).map((token) => check(token));
    await pass(0);
    expect(outcomes.map(({ is }) => is)).toEqual([
      ...Array<string>(5).fill('pending'),
      ...Array<string>(15).fill('busy'),
    ]);
    await pass(3_000);
    const served = [1_000, 1_000, 2_000, 2_000].map((afterMs) => ({ is: 'authenticated', afterMs }));
    expect(outcomes.slice(0, 5)).toEqual([...served, { is: 'busy', afterMs: 2_000 }]);
  });

  it('make no call that could not end in time', async () => {
    const { service, check, callsOf } = scene({ maxInFlight: 1 });
    service.tookMs = 2_800;
    const slow = check('slow');
    const waiting = check('waiting');
    service.tookMs = 10;
    expect(await callsOf(() => pass(2_800))).toBe(0);
    expect([slow.is, waiting]).toEqual(['authenticated', { is: 'busy', afterMs: 2_800 }]);
  });

  it('are served in the order of their arrival', async () => {
    const { service, check } = scene({ maxInFlight: 1, maxQueued: 4 });
    const outcomes = tokens('new', 6).map((token) => check(token));
    await pass(1_000);
    expect(outcomes.map(({ is, afterMs }) => [is, afterMs])).toEqual([
      ...[10, 20, 30, 40, 50].map((ms) => ['authenticated', ms]),
      ['busy', 0],
    ]);
    expect(service.inFlight).toBe(0);
  });
});

describe('known sessions and strangers', () => {
  it('have their shares of the places and of the queue while both wait', async () => {
    const { service, check, checkAll } = scene({ maxInFlight: 8, maxQueued: 8 });
    await checkAll(tokens('ann', 8));
    await checkAll(tokens('ann', 16).slice(8));
    service.tookMs = 100;
    const strangers = tokens('junk', 16).map((token) => check(token));
    const known = tokens('ann', 16).map((token) => check(token));
    await pass(100);
    await pass(100);
    const servedAfter = (outcomes: typeof known): number[] =>
      outcomes.filter(({ is }) => is === 'authenticated').map(({ afterMs }) => afterMs);
    expect([servedAfter(strangers).length, servedAfter(known)]).toEqual([10, Array(6).fill(200)]);
    await pass(1_000);
    expect([servedAfter(strangers).length, servedAfter(known).length]).toEqual([10, 6]);
  });

  it('use all places and the whole queue while the others make no calls', async () => {
    const { checkAll, check } = scene({ maxInFlight: 4, maxQueued: 2 });
    expect(await checkAll(tokens('junk', 7))).toEqual({ authenticated: 4, pending: 2, busy: 1 });
    await pass(1_000);
    expect(await checkAll(tokens('junk', 7))).toEqual({ authenticated: 4, pending: 2, busy: 1 });
    const later = check('junk-0');
    await pass(1_000);
    expect(later.is).toBe('authenticated');
  });
});

describe('the breaker', () => {
  it('opens for the failures of five tokens of strangers, and not for those of four, however many', async () => {
    const { service, checkAll } = scene();
    service.answer = fail;
    for (let turn = 0; turn < 25; turn += 1)
      expect(await checkAll(['a', 'b', 'c', 'd'])).toEqual({ server_error: 4 });
    for (let turn = 0; turn < 4; turn += 1) expect(await checkAll(['e'])).toEqual({ server_error: 1 });
    expect(await checkAll(['another'])).toEqual({ circuit_open: 1 });
  });

  it('opens for the failures of five users, and not for those of four, in however many sessions', async () => {
    const { service, checkAll, callsOf } = scene();
    await checkAll(sessionsOf(FIVE_USERS, 25));
    service.answer = fail;
    expect(await checkAll(sessionsOf(FIVE_USERS.slice(0, 4), 25))).toEqual({ server_error: 100 });
    expect(await callsOf(() => checkAll(sessionsOf(['eve'], 4)))).toBe(4);
    expect(await checkAll(['bob-0', 'zoe-0'])).toEqual({ circuit_open: 2 });
  });

  it('of strangers leaves known sessions alone, and that of known sessions stops both until one probes', async () => {
    const { service, checkAll } = scene();
    await checkAll(sessionsOf(FIVE_USERS, 5));
    service.answer = (token, authIv) => (token.startsWith('junk') ? down : accept(token, authIv));
    await checkAll(tokens('junk', 25));
    expect(await checkAll(['ann-0', 'bob-0', 'zoe-0'])).toEqual({ authenticated: 2, circuit_open: 1 });
    await pass(5_000);
    service.answer = accept;
    expect(await checkAll(['zoe-0'])).toEqual({ authenticated: 1 });

    service.answer = fail;
    await checkAll(sessionsOf(FIVE_USERS, 5));
    expect(await checkAll(['ann-0', 'zoe-0', 'new'])).toEqual({ circuit_open: 3 });
    await pass(5_000);
    service.answer = accept;
    expect(await checkAll(['zoe-0', ...sessionsOf(FIVE_USERS, 1)])).toEqual({
      circuit_open: 5,
      authenticated: 1,
    });
    expect(await checkAll(['new', ...sessionsOf(FIVE_USERS, 1)])).toEqual({ authenticated: 6 });
  });

  it('is not kept open by users whose calls always fail: others probe first', async () => {
    const { service, checkAll } = scene();
    await checkAll(sessionsOf([...FIVE_USERS, 'zoe'], 5));
    service.answer = (token, authIv) => (token.startsWith('zoe') ? accept(token, authIv) : down);
    await checkAll(sessionsOf(FIVE_USERS, 5));
    for (let turn = 0; turn < 3; turn += 1) {
      await pass(turn === 0 ? 5_000 : 0);
      expect(await checkAll(sessionsOf(FIVE_USERS, 5))).toEqual({ circuit_open: 25 });
    }
    expect(await checkAll(['zoe-0'])).toEqual({ authenticated: 1 });
    expect(await checkAll(['zoe-0', 'zoe-1'])).toEqual({ authenticated: 2 });
  });

  it.each<[UnavailableReason, 'circuit_open' | 'authenticated']>([
    ['unreachable', 'circuit_open'],
    ['timeout', 'authenticated'],
    ['server_error', 'circuit_open'],
    ['unexpected_status', 'authenticated'],
    ['malformed', 'authenticated'],
    ['busy', 'authenticated'],
    ['api_key', 'authenticated'],
    ['shutting_down', 'authenticated'],
  ])(
    'opens for failures of the service alone, and not for a timeout before its time: after %s, the next is %s',
    async (reason, next) => {
      const { service, checkAll } = scene();
      service.answer = () => unavailable(reason);
      for (let turn = 0; turn < 4; turn += 1) await checkAll(tokens('junk', 10));
      service.answer = accept;
      expect(await checkAll(['new'])).toEqual({ [next]: 1 });
    },
  );

  it('stays closed after calls on connections that the service had closed', async () => {
    const { service, checkAll } = scene();
    service.answer = () => ({ ...unavailable('unreachable'), staleConnection: true });
    expect(await checkAll(tokens('junk', 40))).toEqual({ unreachable: 40 });
    service.answer = accept;
    expect(await checkAll(['new'])).toEqual({ authenticated: 1 });
  });

  it('opens for calls that took their whole time', async () => {
    const { service, checkAll, check } = scene();
    service.tookMs = 120_000;
    const silent = tokens('junk', 25).map((token) => check(token));
    await pass(3_000);
    expect(new Set(silent.map(({ is }) => is))).toEqual(new Set(['timeout']));
    service.tookMs = 10;
    expect(await checkAll(['new'])).toEqual({ circuit_open: 1 });
  });

  it('stays closed however many tokens are refused', async () => {
    const { service, checkAll } = scene();
    service.answer = () => UNAUTHENTICATED;
    for (let turn = 0; turn < 10; turn += 1)
      expect(await checkAll(tokens('junk', 100))).toEqual({ unauthenticated: 100 });
  });
});

describe('one token with many IVs [P29]', () => {
  it('has eight calls at once, in flight or waiting, and a known session has its own', async () => {
    const { checkAll, callsOf } = scene({ maxInFlight: 5 });
    await checkAll(['mallory-0']);
    for (let turn = 0; turn < 3; turn += 1) {
      const odd = (index: number): string => `odd-${turn}-${index}`;
      const calls = await callsOf(async () => {
        expect(await checkAll(Array<string>(50).fill('mallory-0'), odd)).toEqual({
          authenticated: 5,
          pending: 3,
          busy: 42,
        });
        expect(await checkAll(['mallory-0'])).toEqual({ authenticated: 1 });
        await pass(100);
      });
      expect(calls).toBe(9);
    }
  });

  it('has eight calls at once also while one after the other ends', async () => {
    const { checkAll, check } = scene();
    await checkAll(['mallory-0']);
    const first = check('mallory-0', 'odd-first');
    await pass(5);
    const second = check('mallory-0', 'odd-second');
    await pass(5);
    const odd = (index: number): string => `odd-${index}`;
    expect([first.is, second.is]).toEqual(['authenticated', 'pending']);
    const later = tokens('', 8).map((_, index) => check('mallory-0', odd(index)));
    await pass(0);
    expect(later.map(({ is }) => is)).toEqual([...Array<string>(7).fill('pending'), 'busy']);
  });

  it('is known with eight of them at most, of which the first stays', async () => {
    const { service, checkAll } = scene();
    for (let index = 0; index < 9; index += 1) await checkAll(['ann-0'], () => `iv-${index}`);
    service.answer = (token, authIv) => (token.startsWith('junk') ? down : accept(token, authIv));
    await checkAll(tokens('junk', 25));
    const known: number[] = [];
    for (let index = 0; index < 9; index += 1) {
      const { authenticated } = await checkAll(['ann-0'], () => `iv-${index}`);
      if (authenticated) known.push(index);
    }
    expect(known).toEqual([0, 2, 3, 4, 5, 6, 7, 8]);
  });
});

describe('one account with more sessions than the table of known ones [P73]', () => {
  it.each(['with checks', 'with sign-ins'])(
    'does not make strangers of others beside a flood of junk: %s',
    async (way) => {
      const { service, verifier, checkAll, check } = scene({ maxInFlight: 8 }, new KnownSessions(300));
      const others = sessionsOf(['ann', 'bob', 'carol', 'dan', 'eve', 'fay'], 1);
      await checkAll(others);
      for (const token of tokens('mallory', 350))
        if (way === 'with checks') await checkAll([token]);
        else verifier.revoker.signedIn(token, { username: 'mallory' });
      service.answer = (token, authIv) =>
        token.startsWith('junk') ? UNAUTHENTICATED : accept(token, authIv);
      service.tookMs = 1_000;
      for (const token of tokens('junk', 2_000)) check(token);
      await pass(0);
      const outcomes = others.map((token) => check(token));
      await pass(3_000);
      expect(outcomes.map(({ is }) => is)).toEqual(others.map(() => 'authenticated'));
    },
  );
});
