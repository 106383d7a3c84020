import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { sessionKeysOf, tokenKeyOf, type SessionKeys } from '../contract/session-identity.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import { KnownSessions } from './known-sessions.js';

const ann: Verdict<object> = { kind: 'authenticated', user: { username: 'ann' } };

const keysOf = (token: string, authIv?: string): SessionKeys => sessionKeysOf({ token, authIv });

const isKnown = (known: KnownSessions, keys: SessionKeys): boolean => known.find(keys).lane === 'known';

afterEach(() => void jest.restoreAllMocks());

function tableOf(maxEntries = 10) {
  let now = 0;
  const sleep = (ms: number): void => void (now += ms);
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const known = new KnownSessions(maxEntries);
  return { known, sleep };
}

describe('a session', () => {
  it('is known for half an hour after it was authenticated', () => {
    const { known, sleep } = tableOf();
    expect(isKnown(known, keysOf('ann'))).toBe(false);
    known.update(keysOf('ann'), ann);
    sleep(1_799_999);
    expect(isKnown(known, keysOf('ann'))).toBe(true);
    sleep(1);
    expect(isKnown(known, keysOf('ann'))).toBe(false);
  });

  it('is known for longer when it is authenticated again, and not when another of its token is refused', () => {
    const { known, sleep } = tableOf();
    known.update(keysOf('ann'), ann);
    sleep(1_000_000);
    known.update(keysOf('ann'), ann);
    sleep(799_999);
    known.update(keysOf('ann', 'odd'), UNAUTHENTICATED);
    sleep(1_000_000);
    expect(isKnown(known, keysOf('ann'))).toBe(true);
    sleep(1);
    expect(isKnown(known, keysOf('ann'))).toBe(false);
  });

  it('is known from its sign-in to its sign-out', () => {
    const { known } = tableOf();
    known.add(tokenKeyOf('ann'));
    expect(isKnown(known, keysOf('ann'))).toBe(true);
    known.delete(tokenKeyOf('ann'));
    expect(isKnown(known, keysOf('ann'))).toBe(false);
  });

  it.each([UNAUTHENTICATED, FORBIDDEN])('is a stranger after a refusal: $kind', (refusal) => {
    const { known } = tableOf();
    known.update(keysOf('ann'), ann);
    known.update(keysOf('ann'), refusal);
    expect(isKnown(known, keysOf('ann'))).toBe(false);
  });

  it('does not change in an outage', () => {
    const { known } = tableOf();
    known.update(keysOf('ann'), ann);
    for (const token of ['ann', 'bo']) known.update(keysOf(token), unavailable('server_error'));
    expect(['ann', 'bo'].map((token) => isKnown(known, keysOf(token)))).toEqual([true, false]);
  });

  it('is a stranger with an IV with which it was never authenticated, and its user stays known [P29]', () => {
    const { known } = tableOf();
    known.update(keysOf('ann', 'iv'), ann);
    expect([
      isKnown(known, keysOf('ann', 'iv')),
      isKnown(known, keysOf('ann', 'odd')),
      isKnown(known, keysOf('ann')),
    ]).toEqual([true, false, false]);
    const user = known.find(keysOf('ann')).caller;
    known.update(keysOf('ann', 'iv'), UNAUTHENTICATED);
    expect([isKnown(known, keysOf('ann', 'iv')), known.find(keysOf('ann')).caller, typeof user]).toEqual([
      false,
      user,
      'number',
    ]);
  });

  it('is known with eight IVs at most, of which the first stays [P29]', () => {
    const { known } = tableOf();
    const ivs = Array.from({ length: 20 }, (_, index) => `iv-${index}`);
    for (const iv of [...ivs, ...ivs.slice(-7)]) known.update(keysOf('ann', iv), ann);
    for (let check = 0; check < 8; check += 1) known.update(keysOf('ann', 'iv-19'), ann);
    expect(ivs.filter((iv) => isKnown(known, keysOf('ann', iv)))).toEqual([ivs[0], ...ivs.slice(-7)]);
  });

  it('of a sign-in is a stranger after a refusal that comes before it is presented', () => {
    const { known } = tableOf();
    known.add(tokenKeyOf('ann'));
    known.update(keysOf('ann', 'iv'), UNAUTHENTICATED);
    expect([isKnown(known, keysOf('ann', 'iv')), isKnown(known, keysOf('ann'))]).toEqual([false, false]);
  });

  it('of a sign-in is known with the IV that is presented first, and with no other', () => {
    const { known } = tableOf();
    known.add(tokenKeyOf('ann'), { username: 'ann' });
    expect([
      isKnown(known, keysOf('ann', 'iv')),
      isKnown(known, keysOf('ann', 'odd')),
      isKnown(known, keysOf('ann', 'iv')),
    ]).toEqual([true, false, true]);
    expect(known.find(keysOf('ann')).caller).toEqual(expect.any(Number));
  });

  it.each([
    [59_999, [false, true, true]],
    [60_000, [true, false, true]],
  ])('is evicted when there are too many, if its place is the oldest: used after %d ms', (ms, expected) => {
    const { known, sleep } = tableOf(2);
    known.update(keysOf('ann'), ann);
    sleep(ms);
    for (const token of ['bo', 'ann', 'cleo']) known.update(keysOf(token), ann);
    expect(['ann', 'bo', 'cleo'].map((token) => isKnown(known, keysOf(token)))).toEqual(expected);
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
    known.update(keysOf('1'), { kind: 'authenticated', user: first });
    known.update(keysOf('2'), { kind: 'authenticated', user: second });
    expect(known.find(keysOf('1')).caller === known.find(keysOf('2')).caller).toBe(isSame);
  });

  it('is named by the first identity field that is not empty', () => {
    const known = new KnownSessions(10, ['badge', 'email']);
    const email = 'ann@a.example';
    known.update(keysOf('1'), { kind: 'authenticated', user: { badge: '', email } });
    known.update(keysOf('2'), { kind: 'authenticated', user: { email } });
    expect(known.find(keysOf('1')).caller).toBe(known.find(keysOf('2')).caller);
  });

  it('is the token itself until a check has named the user', () => {
    const { known } = tableOf();
    known.add(tokenKeyOf('1'));
    expect([known.find(keysOf('1')).caller, known.find(keysOf('2')).caller]).toEqual(
      ['1', '2'].map(tokenKeyOf),
    );
    known.update(keysOf('1'), { kind: 'authenticated', user: { username: 'ann' } });
    expect(known.find(keysOf('1')).caller).toEqual(expect.any(Number));
  });
});
