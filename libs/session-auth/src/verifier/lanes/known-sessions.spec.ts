import { describe, expect, it, jest } from '@jest/globals';
import type { TokenKey } from '../../contract/session-identity.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../../contract/outcome.js';
import { KnownSessions } from './known-sessions.js';

const ann: Verdict<string> = { kind: 'authenticated', user: 'ann' };

function tableOf(maxEntries = 10) {
  let now = 0;
  let wallMs = 5_000;
  const moveWall = (ms: number): void => void (wallMs += ms);
  const sleep = (ms: number): void => {
    now += ms;
    moveWall(ms);
  };
  const known = new KnownSessions(
    maxEntries,
    () => now,
    undefined,
    () => wallMs,
  );
  return { known, sleep, moveWall };
}

describe('a session', () => {
  it('is known for half an hour after it was authenticated', () => {
    const { known, sleep } = tableOf();
    expect(known.has('ann' as TokenKey)).toBe(false);
    known.update('ann' as TokenKey, ann);
    sleep(1_799_999);
    expect(known.has('ann' as TokenKey)).toBe(true);
    sleep(1);
    expect(known.has('ann' as TokenKey)).toBe(false);
  });

  it('is known for longer when it is authenticated again', () => {
    const { known, sleep } = tableOf();
    known.update('ann' as TokenKey, ann);
    sleep(1_000_000);
    known.update('ann' as TokenKey, ann);
    sleep(1_000_000);
    expect(known.has('ann' as TokenKey)).toBe(true);
  });

  it('is known from its sign-in to its sign-out', () => {
    const { known } = tableOf();
    known.add('ann' as TokenKey);
    expect(known.has('ann' as TokenKey)).toBe(true);
    known.delete('ann' as TokenKey);
    expect(known.has('ann' as TokenKey)).toBe(false);
  });

  it.each([UNAUTHENTICATED, FORBIDDEN])('is a stranger after a refusal: $kind', (refusal) => {
    const { known } = tableOf();
    known.update('ann' as TokenKey, ann);
    known.update('ann' as TokenKey, refusal);
    expect(known.has('ann' as TokenKey)).toBe(false);
  });

  it('does not change in an outage', () => {
    const { known } = tableOf();
    known.update('ann' as TokenKey, ann);
    for (const token of ['ann', 'bo']) known.update(token as TokenKey, unavailable('server_error'));
    known.update('cleo' as TokenKey, { ...ann, stale: true });
    expect(['ann', 'bo', 'cleo'].map((token) => known.has(token as TokenKey))).toEqual([true, false, false]);
  });

  it('is evicted when there are too many, and the least recently used first', () => {
    const { known } = tableOf(2);
    for (const token of ['ann', 'bo']) known.update(token as TokenKey, ann);
    known.has('ann' as TokenKey);
    known.update('cleo' as TokenKey, ann);
    expect(['ann', 'bo', 'cleo'].map((token) => known.has(token as TokenKey))).toEqual([true, false, true]);
  });

  it('is known by the monotonic clock of the process', () => {
    jest.useFakeTimers();
    const known = new KnownSessions();
    known.add('ann' as TokenKey);
    jest.advanceTimersByTime(1_799_999);
    const before = known.has('ann' as TokenKey);
    jest.advanceTimersByTime(1);
    expect([before, known.has('ann' as TokenKey)]).toEqual([true, false]);
    jest.useRealTimers();
  });
});

describe('the user of a known session', () => {
  it.each<[string, object | string, object | string, boolean]>([
    ['of the same name', { username: 'ann' }, { username: 'ann' }, true],
    ['of another name', { username: 'ann' }, { username: 'bob' }, false],
    ['without a name', { username: '' }, { username: '' }, false],
    ['that is no record', 'ann', 'ann', false],
  ])('%s: one for both sessions or not', (_what, first, second, isSame) => {
    const { known } = tableOf();
    known.update('1' as TokenKey, { kind: 'authenticated', user: first });
    known.update('2' as TokenKey, { kind: 'authenticated', user: second });
    expect(known.callerOf('1' as TokenKey) === known.callerOf('2' as TokenKey)).toBe(isSame);
  });

  it('is the token itself until a check has named the user', () => {
    const { known } = tableOf();
    known.add('1' as TokenKey);
    expect([known.callerOf('1' as TokenKey), known.callerOf('2' as TokenKey)]).toEqual(['1', '2']);
    known.update('1' as TokenKey, { kind: 'authenticated', user: { username: 'ann' } });
    expect(known.callerOf('1' as TokenKey)).toEqual(expect.any(Number));
  });
});

describe('the wall clock', () => {
  it('ends the half hour too, also if it is set back later', () => {
    const { known, sleep, moveWall } = tableOf();
    known.update('ann' as TokenKey, ann);
    moveWall(1_799_999);
    expect(known.has('ann' as TokenKey)).toBe(true);
    moveWall(-3_600_000);
    sleep(1);
    expect(known.has('ann' as TokenKey)).toBe(false);
  });
});
