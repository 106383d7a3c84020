import { afterEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
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
  it('is known for half an hour after it was authenticated last, whatever becomes of another of its token', () => {
    const { known, sleep } = tableOf();
    expect(isKnown(known, keysOf('ann'))).toBe(false);
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

  it('is a stranger with an IV with which it was never authenticated, and its user stays known [P29]', () => {
    const { known } = tableOf();
    known.update(keysOf('ann', 'iv'), ann);
    const areKnown = ['iv', 'odd', undefined].map((iv) => isKnown(known, keysOf('ann', iv)));
    expect(areKnown).toEqual([true, false, false]);
    const user = known.find(keysOf('ann')).caller;
    known.update(keysOf('ann', 'iv'), UNAUTHENTICATED);
    expect([isKnown(known, keysOf('ann', 'iv')), typeof user]).toEqual([false, 'number']);
    expect(known.find(keysOf('ann')).caller).toBe(user);
  });

  it('is known with eight IVs at most, of which the first stays [P29]', () => {
    const { known } = tableOf();
    const ivs = Array.from({ length: 20 }, (_, index) => `iv-${index}`);
    for (const iv of [...ivs, ...ivs.slice(-7)]) known.update(keysOf('ann', iv), ann);
    for (let check = 0; check < 8; check += 1) known.update(keysOf('ann', 'iv-19'), ann);
    expect(ivs.filter((iv) => isKnown(known, keysOf('ann', iv)))).toEqual([ivs[0], ...ivs.slice(-7)]);
  });

  it('is a stranger once it is refused, not in an outage, and the others of its token stay known [P53]', () => {
    const ivs = ['a', 'b', 'c'];
    for (const refused of ivs) {
      const { known } = tableOf();
      for (const iv of ivs) known.update(keysOf('ann', iv), ann);
      known.update(keysOf('ann', refused), unavailable('server_error'));
      expect(ivs.map((iv) => isKnown(known, keysOf('ann', iv)))).toEqual([true, true, true]);
      known.update(keysOf('ann', refused), refused === 'a' ? FORBIDDEN : UNAUTHENTICATED);
      expect(ivs.filter((iv) => !isKnown(known, keysOf('ann', iv)))).toEqual([refused]);
    }
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
    const areKnown = ['iv', 'odd', 'iv'].map((iv) => isKnown(known, keysOf('ann', iv)));
    expect(areKnown).toEqual([true, false, true]);
    expect(known.find(keysOf('ann')).caller).toEqual(expect.any(Number));
  });

  it.each([
    [59_999, [false, true, true]],
    [60_000, [true, false, true]],
  ])('is evicted when there are too many, if its place is the oldest: used after %d ms', (ms, expected) => {
    const { known, sleep } = tableOf(2);
    const letIn = (username: string): void =>
      known.update(keysOf(username), { kind: 'authenticated', user: { username } });
    letIn('ann');
    sleep(ms);
    for (const username of ['bo', 'ann', 'cleo']) letIn(username);
    expect(['ann', 'bo', 'cleo'].map((token) => isKnown(known, keysOf(token)))).toEqual(expected);
  });
});

describe('the user of a known session', () => {
  it.each<[string, unknown, unknown, boolean]>([
    ['of the same name', { username: 'ann' }, { username: 'ann' }, true],
    ['of another name', { username: 'ann' }, { username: 'bob' }, false],
    ['without a name', { username: '' }, { username: '' }, false],
    ['that is no record', 'ann', 'ann', false],
  ])('%s: one for both sessions or not', (_what, first, second, isSame) => {
    const { known } = tableOf();
    known.update(keysOf('1'), { kind: 'authenticated', user: first as object });
    known.update(keysOf('2'), { kind: 'authenticated', user: second as object });
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

describe('the share of a user [P73]', () => {
  const of = (username: string, count: number): { user: object; token: string }[] =>
    Array.from({ length: count }, (_, index) => ({ user: { username }, token: `${username}-${index}` }));
  const addAll = (known: KnownSessions, sessions: ReturnType<typeof of>): void => {
    for (const { user, token } of sessions) known.add(tokenKeyOf(token), user);
  };
  const others = (count: number) =>
    Array.from({ length: count }, (_, index) => of(`other-${index}`, 1)).flat();
  const countOf = (known: KnownSessions, sessions: ReturnType<typeof of>): number =>
    sessions.filter(({ token }) => isKnown(known, keysOf(token))).length;

  it('is a hundredth of the table, and more only while others leave room', () => {
    const [known, mallory] = [new KnownSessions(400), of('mallory', 500)];
    addAll(known, mallory);
    expect(countOf(known, mallory)).toBe(400);
    addAll(known, others(100));
    expect(countOf(known, mallory)).toBe(300);
    addAll(known, others(396));
    expect([countOf(known, mallory), countOf(known, others(396))]).toEqual([4, 396]);
    addAll(known, mallory);
    expect([countOf(known, mallory), countOf(known, others(396))]).toEqual([4, 396]);
  });

  it('is one for all tokens whose user is not known yet, and that of the user afterwards', () => {
    const [known, ann] = [new KnownSessions(200), of('ann', 4)];
    for (const { token } of ann) known.add(tokenKeyOf(token));
    for (const { user, token } of ann) known.update(keysOf(token), { kind: 'authenticated', user });
    addAll(known, others(198));
    expect(countOf(known, ann)).toBe(2);
    known.add(tokenKeyOf('nameless'));
    expect([countOf(known, ann), isKnown(known, keysOf('nameless'))]).toEqual([1, true]);
  });

  it('is given to a session beyond it that is still used when others of its user have gone', () => {
    const { known, sleep } = tableOf(200);
    const sessions = of('ann', 3);
    addAll(known, sessions);
    for (const { token } of sessions.slice(0, 2)) known.delete(tokenKeyOf(token));
    sleep(60_000);
    known.update(keysOf('ann-2'), ann);
    addAll(known, others(199));
    expect(isKnown(known, keysOf('ann-2'))).toBe(true);
  });

  it('stays with the others, whatever a few accounts do, in any order', () => {
    const action = fc.record({
      account: fc.nat(3),
      session: fc.nat(1_500),
      does: fc.constantFrom('signs in', 'is accepted', 'is refused', 'signs out'),
    });
    const actions = fc.array(action, { minLength: 1_000, maxLength: 3_000, size: 'max' });
    // Four accounts leave 96 hundredths.
    const honest = Array.from({ length: 96 }, (_, index) => of(`other-${index}`, 10)).flat();
    fc.assert(
      fc.property(actions, (harm) => {
        const known = new KnownSessions(1_000);
        for (const [index, { account, session, does }] of harm.entries()) {
          for (const { user, token } of honest.slice(index % honest.length, (index % honest.length) + 1))
            known.update(keysOf(token), { kind: 'authenticated', user });
          const [keys, username] = [keysOf(`account-${account}-${session}`), `account-${account}`];
          if (does === 'signs in') known.add(keys.tokenKey, { username });
          else if (does === 'signs out') known.delete(keys.tokenKey);
          else if (does === 'is refused') known.update(keys, FORBIDDEN);
          else known.update(keys, { kind: 'authenticated', user: { username } });
        }
        expect(countOf(known, honest)).toBe(honest.length);
      }),
      { numRuns: 20 },
    );
  }, 60_000);
});
