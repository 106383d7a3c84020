import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Subject } from 'rxjs';
import { partsWith } from '../../../../test/support/session-parts.js';
import { ACCESS_DENIED, SESSION_REJECTED } from '../contract/denials.js';
import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import { readUser, type UserRecord } from '../contract/record/user-record.js';
import { type TokenKey, tokenKeyOf } from '../contract/session-identity.js';
import type { GuardDenial } from '../guard/denial.js';
import { MAX_OPEN_OF_SESSION, type Watched, WatchedSessions } from './watched-sessions.js';

const ANN: Verdict<UserRecord> = { kind: 'authenticated', user: { username: 'ann' } };
const SETTINGS = { recheckMs: 1_000, outageGraceMs: 5_000 };
const OUTAGE = unavailable('unreachable', 9);

/** Something that opens, and the denials that it ended with. */
interface Opened {
  readonly watched: Watched;
  readonly ends: GuardDenial[];
}

/** The ends of the sessions of a registration, whose fingerprints are the keys of tokens. */
class Source {
  readonly ended = new Subject<string>();
  readonly evicted = new Subject<string>();
  readonly forgottenUsers = new Subject<string | undefined>();
  readonly fingerprintOf = jest.fn((key: TokenKey) => String(key));
}

/** A registration whose service answers at once: a token with a user of its own, unless the test sets another. */
function aRegistration({ cached = false } = {}) {
  const service = {
    answers: new Map<string, Verdict<UserRecord>>(),
    tokens: [] as string[],
    onAsk: (): unknown => undefined,
  };
  const ask = async ({ token }: { token: string }): Promise<Verdict<UserRecord>> => {
    service.tokens.push(token);
    await service.onAsk();
    return service.answers.get(token) ?? { kind: 'authenticated', user: { username: token.split('-')[0] } };
  };
  const source = new Source();
  const cache = cached && { cache: { ttlMs: 100, negativeTtlMs: 0 } };
  const parts = { ...partsWith(ask, { ...cache }), ends: source };
  const { verifier } = parts;
  const sessions = WatchedSessions.of(parts);
  const open = (token: string, settings: object = {}, authIv?: string): Opened => {
    const ends: GuardDenial[] = [];
    const target = { ...SETTINGS, ...settings, end: (denial: GuardDenial) => void ends.push(denial) };
    return { ends, watched: sessions.watch({ token, authIv }, target) };
  };
  const opened = async (...parameters: Parameters<typeof open>): Promise<Opened> => {
    const added = open(...parameters);
    await added.watched.confirm();
    return added;
  };
  const verify = (token: string) => Promise.resolve(verifier.verify({ token, authIv: undefined }));
  return { service, verifier, source, parts, sessions, open, opened, verify };
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const endsOf = (...all: Opened[]): unknown[] => all.map(({ ends }) => ends.map(({ code }) => code));

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
afterEach(() => void jest.useRealTimers());

describe('what is open', () => {
  it('is found by its session from its start on, and no longer once it is over', async () => {
    const { sessions, open, opened } = aRegistration();
    const [first, second] = [await opened('ann-1'), open('ann-1')];
    expect([first.watched.state, second.watched.state, sessions.all()]).toEqual([
      'open',
      'waiting',
      [first.watched, second.watched],
    ]);
    expect([first.watched.fingerprint, first.watched.user, second.watched.user]).toEqual([
      tokenKeyOf('ann-1'),
      { username: 'ann' },
      undefined,
    ]);
    first.watched.over();
    first.watched.end(SESSION_REJECTED);
    expect([first.watched.user, first.ends, sessions.all()]).toEqual([undefined, [], [second.watched]]);
  });

  it('is of one registry for each registration', () => {
    const { parts, sessions } = aRegistration();
    expect(WatchedSessions.of(parts)).toBe(sessions);
    expect(aRegistration().sessions).not.toBe(sessions);
  });

  it('is checked again within recheckMs, a tenth early at most, and has the user of the last check', async () => {
    const { service, opened } = aRegistration();
    const { watched } = await opened('ann-1');
    service.answers.set('ann-1', { kind: 'authenticated', user: { username: 'ann-marie' } });
    await jest.advanceTimersByTimeAsync(899);
    expect(service.tokens).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(101);
    expect([service.tokens.length, watched.user]).toEqual([2, { username: 'ann-marie' }]);
  });

  it.each([UNAUTHENTICATED, FORBIDDEN])(
    'ends by a check that is $kind, also after the first of its session is over, and is not checked again',
    async (verdict) => {
      const { service, sessions, opened } = aRegistration();
      const [first, each] = [await opened('ann-1'), await opened('ann-1')];
      first.watched.over();
      service.answers.set('ann-1', verdict);
      await jest.advanceTimersByTimeAsync(10_000);
      expect(each.ends).toEqual([verdict === FORBIDDEN ? ACCESS_DENIED : SESSION_REJECTED]);
      expect([service.tokens.length, sessions.all(), jest.getTimerCount()]).toEqual([3, [], 0]);
    },
  );

  it('does not open during an outage, nor if its session is refused', async () => {
    const { service, opened, sessions } = aRegistration();
    service.answers.set('ann-1', OUTAGE).set('bob-1', UNAUTHENTICATED);
    const denied = endsOf(await opened('ann-1'), await opened('bob-1'));
    expect(denied).toEqual([['SESSION_SERVICE_UNAVAILABLE'], ['SESSION_REJECTED']]);
    expect([sessions.all(), jest.getTimerCount()]).toEqual([[], 0]);
  });

  it('is not checked, nor open, once it is over', async () => {
    const { service, source, open, opened } = aRegistration();
    const [first, second, third] = [open('ann-1'), await opened('bob-1'), open('cid-1')];
    first.watched.over();
    expect(first.watched.confirm()).toBe(false);
    second.watched.over();
    const confirmed = third.watched.confirm();
    third.watched.over();
    expect([await confirmed, third.watched.user]).toEqual([false, undefined]);
    source.evicted.next(tokenKeyOf('bob-1'));
    await jest.advanceTimersByTimeAsync(10_000);
    expect([service.tokens, endsOf(first, second, third), jest.getTimerCount()]).toEqual([
      ['bob-1', 'cid-1'],
      [[], [], []],
      0,
    ]);
  });

  it('has its first check once, and one of another is its own', async () => {
    const { service, open } = aRegistration();
    const { watched } = open('ann-1');
    expect(await Promise.all([watched.confirm(), watched.confirm()])).toEqual([true, true]);
    const other = open('ann-1').watched;
    expect([other.admit(ANN), other.user, service.tokens.length]).toEqual([true, ANN.user, 1]);
  });

  it('is at most 10,000 of one session: the next is denied without a call', async () => {
    const { service, open, opened } = aRegistration();
    await opened('ann-1');
    for (let count = 1; count < MAX_OPEN_OF_SESSION; count += 1) open('ann-1').watched.admit(ANN);
    const other = await opened('ann-2');
    for (const way of ['confirm', 'admit', 'confirm'] as const) {
      const { watched, ends } = open('ann-1');
      expect([watched[way](ANN), ends]).toMatchObject([false, [{ statusCode: 503, reason: 'busy' }]]);
    }
    expect([other.watched.state, service.tokens]).toEqual(['open', ['ann-1', 'ann-2']]);
  });

  it('does not keep the process alive', async () => {
    const timeout = jest.spyOn(globalThis, 'setTimeout');
    const { opened } = aRegistration();
    await opened('ann-1');
    const timers = timeout.mock.results.map(({ value }) => value as NodeJS.Timeout);
    timeout.mockRestore();
    expect(timers.at(-1)?.hasRef()).toBe(false);
  });
});

describe('what is open, during an outage', () => {
  it.each([
    ['of the service', false],
    ['in which only a stale entry authenticates it', true],
  ])('stays open for outageGraceMs from the first failed check: %s', async (_case, cached) => {
    const { service, opened } = aRegistration({ cached });
    const each = await opened('ann-1');
    service.answers.set('ann-1', OUTAGE);
    await jest.advanceTimersByTimeAsync(1_000 + 4_999 - 100);
    expect([each.ends, each.watched.user]).toEqual([[], ANN.user]);
    await jest.advanceTimersByTimeAsync(101);
    expect([endsOf(each), each.watched.user]).toEqual([[['SESSION_SERVICE_UNAVAILABLE']], undefined]);
  });

  it('has the full grace again after the outage has ended', async () => {
    const { service, opened } = aRegistration();
    const each = await opened('ann-1');
    for (let outage = 0; outage < 3; outage += 1) {
      service.answers.set('ann-1', OUTAGE);
      await jest.advanceTimersByTimeAsync(4_000);
      service.answers.delete('ann-1');
      await jest.advanceTimersByTimeAsync(1_000);
    }
    expect(each.ends).toEqual([]);
  });

  it('ends at the first failed check without a grace, and what has one of the same session stays', async () => {
    const { service, opened } = aRegistration();
    const both = [await opened('ann-1', { outageGraceMs: 0 }), await opened('ann-1')];
    service.answers.set('ann-1', OUTAGE);
    await jest.advanceTimersByTimeAsync(1_000);
    expect([endsOf(...both), service.tokens.length]).toEqual([[['SESSION_SERVICE_UNAVAILABLE'], []], 3]);
  });

  it('opens with a grace only, though a stale entry authenticates it', async () => {
    const { service, opened } = aRegistration({ cached: true });
    await opened('ann-1');
    service.answers.set('ann-1', OUTAGE);
    await jest.advanceTimersByTimeAsync(3_000);
    const [late, strict] = [await opened('ann-1'), await opened('ann-1', { outageGraceMs: 0 })];
    expect([late.watched.state, endsOf(strict)]).toEqual(['open', [['SESSION_SERVICE_UNAVAILABLE']]]);
  });
});

describe('what one session has open', () => {
  it('shares one recheck, also what opens later and what waits for its first check [P30]', async () => {
    const { service, opened, sessions } = aRegistration();
    const all: Opened[] = [];
    for (let count = 0; count < 299; count += 1) {
      await jest.advanceTimersByTimeAsync(1);
      all.push(await opened('ann-1', { recheckMs: 2_000 }));
    }
    await opened('ann-1', { recheckMs: 2_000 }, 'iv');
    service.tokens.length = 0;
    await jest.advanceTimersByTimeAsync(20_000);
    // Two sessions, every 1800 to 2000 ms.
    expect(service.tokens.length).toBeGreaterThanOrEqual(2 * 10);
    expect(service.tokens.length).toBeLessThanOrEqual(2 * 12);
    service.answers.set('ann-1', UNAUTHENTICATED);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(all.every(({ ends }) => ends[0]?.code === 'SESSION_REJECTED')).toBe(true);
    expect([sessions.all(), jest.getTimerCount()]).toEqual([[], 0]);
  });

  it('is checked at the shortest of its intervals', async () => {
    const { service, opened } = aRegistration();
    for (const recheckMs of [60_000, 1_000]) await opened('ann-1', { recheckMs });
    await jest.advanceTimersByTimeAsync(10_000);
    expect(service.tokens.length).toBeGreaterThanOrEqual(12);
    expect(service.tokens.length).toBeLessThanOrEqual(14);
  });

  it('ends at once when the session is revoked, under every IV and what waits too, and nothing of another', async () => {
    const { source, open, opened } = aRegistration();
    const [first, second] = [await opened('ann-1'), await opened('ann-1', {}, 'iv')];
    const [other, past] = [await opened('ann-2'), await opened('ann-1', {}, 'other iv')];
    past.watched.over();
    const [waiting, otherWaiting] = [open('ann-1'), open('ann-2')];
    source.ended.next(tokenKeyOf('ann-1'));
    expect(endsOf(first, second, waiting, other, otherWaiting)).toEqual([
      ...Array<unknown>(3).fill(['SESSION_REJECTED']),
      [],
      [],
    ]);
  });

  it('ends though code of the application throws at some of its ends, which is reported', async () => {
    const { source, opened, parts } = aRegistration();
    const occurred = jest.fn();
    Object.assign(parts, { causes: { occurred } });
    const ended: number[] = [];
    for (const index of [0, 1, 2]) {
      const { watched } = await opened('ann-1');
      watched.target.end = () => {
        ended.push(index);
        if (index < 2) throw new Error(`of ${index}`);
      };
    }
    source.ended.next(tokenKeyOf('ann-1'));
    expect(ended).toEqual([0, 1, 2]);
    // RxJS would throw the error of a subscriber from a timer.
    jest.runOnlyPendingTimers();
    expect(occurred.mock.calls).toEqual([['listener failed'], ['listener failed']]);
  });

  it('is checked at once after it was evicted', async () => {
    const { service, source, opened } = aRegistration();
    const each = await opened('ann-1');
    service.answers.set('ann-1', UNAUTHENTICATED);
    source.evicted.next(tokenKeyOf('ann-1'));
    await jest.advanceTimersByTimeAsync(1);
    expect(endsOf(each)).toEqual([['SESSION_REJECTED']]);
  });

  it('is watched no longer after a shutdown, and stays open', async () => {
    const { source, opened, sessions } = aRegistration();
    const all = [await opened('ann-1'), await opened('bob-1')];
    source.ended.complete();
    expect([sessions.all(), endsOf(...all), jest.getTimerCount()]).toEqual([[], [[], []], 0]);
  });
});

describe('the revocation of a user', () => {
  it('ends what the user has open, by the name of the service too, and nothing of others', async () => {
    const { service, source, opened } = aRegistration();
    const user = readUser<UserRecord>({ username: 'ann' }, () => ({ username: 'ANN' })) ?? {};
    service.answers.set('ann-2', { kind: 'authenticated', user });
    const all = [await opened('ann-1'), await opened('bob-1'), await opened('ann-2')];
    source.forgottenUsers.next('ann');
    expect(endsOf(...all)).toEqual([['SESSION_REJECTED'], [], ['SESSION_REJECTED']]);
  });

  it('does not end what has no verdict yet, because its check is repeated instead', async () => {
    const { service, source, verifier, open, opened } = aRegistration();
    const [each, waiting] = [await opened('ann-2'), open('ann-1')];
    service.onAsk = async () => {
      service.onAsk = () => undefined;
      await verifier.revoker.apply({ kind: 'userRevoked', username: 'ann' });
      source.forgottenUsers.next('ann');
      await jest.advanceTimersByTimeAsync(1);
    };
    expect([await waiting.watched.confirm(), waiting.ends, endsOf(each)]).toEqual([
      true,
      [],
      [['SESSION_REJECTED']],
    ]);
    expect(service.tokens).toEqual(['ann-2', 'ann-1', 'ann-1']);
  });

  it('ends everything, if it is of every user', async () => {
    const { source, opened, sessions } = aRegistration();
    const all = [await opened('ann-1'), await opened('bob-1')];
    source.forgottenUsers.next(undefined);
    expect([endsOf(...all), sessions.all()]).toEqual([[['SESSION_REJECTED'], ['SESSION_REJECTED']], []]);
  });
});

describe('a refusal by the service', () => {
  it.each([
    [UNAUTHENTICATED, SESSION_REJECTED],
    [FORBIDDEN, ACCESS_DENIED],
  ])('ends what its session has open after the denial of its own call: $kind', async (verdict, denial) => {
    const { service, open, opened, verify } = aRegistration();
    const [each, other] = [await opened('ann-1'), await opened('ann-2')];
    service.answers.set('ann-1', verdict);
    expect(await verify('ann-1')).toEqual(verdict);
    expect(each.ends).toEqual([]);
    const waiting = open('ann-1');
    await turn();
    expect([each.ends, waiting.ends, other.ends]).toEqual([[denial], [denial], []]);
  });

  it('ends nothing that opens after it', async () => {
    const { service, opened, verify } = aRegistration();
    const other = await opened('ann-2');
    service.answers.set('ann-1', UNAUTHENTICATED);
    await verify('ann-1');
    service.answers.delete('ann-1');
    const each = await opened('ann-1');
    await turn();
    expect(endsOf(each, other)).toEqual([[], []]);
  });

  it('costs nothing while nothing is open', async () => {
    const { service, source, opened, verify } = aRegistration();
    const { fingerprintOf: digest } = source;
    service.answers.set('bob-1', UNAUTHENTICATED);
    await verify('bob-1');
    expect(digest).not.toHaveBeenCalled();
    await opened('ann-1');
    await verify('bob-1');
    expect(digest).toHaveBeenCalledWith(tokenKeyOf('bob-1'));
  });

  it('is no outage of a single call', async () => {
    const { service, opened, verify } = aRegistration();
    const each = await opened('ann-1');
    service.answers.set('ann-1', unavailable('server_error'));
    await verify('ann-1');
    await turn();
    expect(each.ends).toEqual([]);
  });
});

describe('the first check of something', () => {
  /** Revokes the sessions of a user, or all, while each of the first calls is under way. */
  function revoking(times: number, username?: string) {
    const own = aRegistration();
    let left = times;
    own.service.onAsk = async () => {
      if (left === 0) return;
      left -= 1;
      await own.verifier.revoker.apply(
        username === undefined ? { kind: 'allRevoked' } : { kind: 'userRevoked', username },
      );
      await jest.advanceTimersByTimeAsync(1);
    };
    return own;
  }

  it('of a cached session returns no promise', async () => {
    const { open, opened } = aRegistration({ cached: true });
    await opened('ann-1');
    expect(open('ann-1').watched.confirm()).toBe(true);
  });

  it('is made once if no session was revoked meanwhile, or only those of another user, or those of its user before', async () => {
    const { service, verifier, opened } = revoking(1, 'bob');
    await verifier.revoker.apply({ kind: 'userRevoked', username: 'ann' });
    await jest.advanceTimersByTimeAsync(1);
    expect([(await opened('ann-1')).watched.state, service.tokens.length]).toEqual(['open', 1]);
  });

  it.each([['ann'], [undefined]])(
    'is repeated if the sessions of %s were revoked meanwhile, and its last verdict counts',
    async (username) => {
      const { service, opened } = revoking(2, username);
      expect([(await opened('ann-1')).watched.state, service.tokens.length]).toEqual(['open', 3]);
    },
  );

  it('is repeated, and denies what the second verdict refuses', async () => {
    const own = revoking(1, 'ann');
    const { onAsk } = own.service;
    own.service.onAsk = async () => {
      await onAsk();
      own.service.onAsk = () => void own.service.answers.set('ann-1', UNAUTHENTICATED);
    };
    expect([endsOf(await own.opened('ann-1')), own.service.tokens.length]).toEqual([
      [['SESSION_REJECTED']],
      2,
    ]);
  });

  it('is not repeated after a denial', async () => {
    const { service, opened } = revoking(1);
    service.answers.set('ann-1', UNAUTHENTICATED);
    expect([(await opened('ann-1')).watched.state, service.tokens.length]).toEqual(['over', 1]);
  });

  it('is made three times at most, and denies with 503 then', async () => {
    const { service, opened } = revoking(3, 'ann');
    const { ends } = await opened('ann-1');
    expect([ends, service.tokens.length]).toMatchObject([[{ statusCode: 503, reason: 'busy' }], 3]);
  });
});
