import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Deadline, Deadlines, inTime } from '../client/deadline.js';
import { readUser } from '../contract/record/user-record.js';
import { UNAUTHENTICATED, type Verdict } from '../contract/outcome.js';
import { tokenKeyOf, type SessionIdentity } from '../contract/session-identity.js';
import { SessionCache } from '../verifier/session-cache.js';
import { Lanes } from '../verifier/lanes.js';
import type { Revocation } from '../verifier/revocations.js';
import { SessionVerifier } from '../verifier/session-verifier.js';
import { MemoryServer, MemoryStore } from '../../../../test/fleet/memory-store.js';
import { Fleet } from './fleet.js';

const TTL_MS = 60_000;
const TOMBSTONE_MS = 600_000;
const TIMEOUT_MS = 50;
const [NEW, OLD] = ['the new secret..', 'the old secret..'] as const;
const FORGET_ANN: Revocation = { kind: 'userRevoked', username: 'ann' };
const FORGET_ALL: Revocation = { kind: 'allRevoked' };

interface InstanceSetup {
  readonly secrets?: readonly [string, ...string[]];
  readonly scope?: string;
  /** Whether its first commands fail. */
  readonly isDown?: boolean;
}

const asIs = (json: object): object => json;

/** The instances of an application, and the session service. */
function fleet() {
  const server = new MemoryServer();
  const service = { calls: 0, users: new Map<string, object>([['token', { username: 'ann' }]]) };
  const instance = ({ secrets = [NEW], scope = 'service', isDown = false }: InstanceSetup = {}) => {
    const link = new MemoryStore(server);
    link.isDown = isDown;
    const ask = ({ token }: SessionIdentity): Promise<Verdict<object>> => {
      service.calls += 1;
      const json = service.users.get(token);
      const user = json && readUser(json, asIs);
      return Promise.resolve(user ? { kind: 'authenticated', user, json } : UNAUTHENTICATED);
    };
    const events = { clocks: 0, ended: 0, forgotten: [] as unknown[], failed: 0, unreadable: 0, lost: 0 };
    const settings = { timeoutMs: 3_000, maxAttempts: 1, maxInFlight: 10, maxQueued: 10 };
    const ages = { ttlMs: TTL_MS, tombstoneMs: TOMBSTONE_MS, refreshAheadMs: 0 };
    const shared = new Fleet<object>({ store: link, timeoutMs: TIMEOUT_MS, secrets, scope, ...ages }, asIs, {
      failed: () => void (events.failed += 1),
      answered: () => undefined,
      unreadable: () => void (events.unreadable += 1),
      lost: (count) => void (events.lost += count),
      clockDiffers: () => void (events.clocks += 1),
      busStateChanged: () => undefined,
    });
    const cache = new SessionCache<object>({
      ttlMs: TTL_MS,
      negativeTtlMs: 0,
      maxEntries: 1_000,
      refreshAheadMs: 0,
      staleIfErrorMs: 0,
    });
    const askInTime = (session: SessionIdentity, deadline: Deadline): Promise<Verdict<object>> =>
      inTime(deadline, ask(session));
    const verifier = new SessionVerifier<object>(new Lanes(askInTime, new Deadlines(), settings), {
      cache,
      shared,
      onRevoked: () => void (events.ended += 1),
      onUsersRevoked: (username) => events.forgotten.push(username),
    });
    verifier.revoker.subscribe();
    const verify = async (token = 'token'): Promise<string> => {
      const verdict = Promise.resolve(verifier.verify({ token, authIv: undefined }));
      await jest.advanceTimersByTimeAsync(0);
      return (await verdict).kind;
    };
    return {
      link,
      events,
      verifier,
      verify,
      revoke: (revocation: Revocation) => verifier.revoker.apply(revocation),
    };
  };
  return { server, service, instance };
}

/** Lets time pass, and everything that is due happen. */
const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

beforeEach(async () => {
  jest.useFakeTimers();
  await pass(60_000);
});
afterEach(() => void jest.useRealTimers());

describe('the end of sessions', () => {
  it.each<[string, Revocation]>([
    ['all users', FORGET_ALL],
    ['the user', FORGET_ANN],
  ])(
    'of %s holds for an instance that finds them in the store, and has received nothing',
    async (_name, revocation) => {
      const { service, server, instance } = fleet();
      const one = instance();
      const tokens = Array.from({ length: 20 }, (_, index) => `token ${index}`);
      for (const token of tokens) {
        service.users.set(token, { username: 'ann' });
        expect(await one.verify(token)).toBe('authenticated');
      }
      service.users.clear();
      await pass(2_000);
      server.subscribers.clear();
      await one.revoke(revocation);
      const later = instance();
      for (const token of tokens) expect(await later.verify(token)).toBe('unauthenticated');
    },
  );

  it('that an instance may have missed makes it check every session again', async () => {
    const { service, server, instance } = fleet();
    const one = instance();
    await pass(10);
    const [subscriber] = server.subscribers;
    expect(await one.verify()).toBe('authenticated');
    subscriber?.interrupted('a restart');
    server.subscribers.clear();
    await instance().revoke(FORGET_ANN);
    service.users.clear();
    expect(await one.verify()).toBe('authenticated');
    subscriber?.subscribed();
    expect(await one.verify()).toBe('unauthenticated');
  });
});

describe('a sign-out of a token', () => {
  it.each([0, 1])(
    'is found in the store by look-up %d of a rotation of secrets, although the other gets no answer',
    async (found) => {
      const { service, server, instance } = fleet();
      const [one, other] = [instance({ secrets: [NEW, OLD] }), instance({ secrets: [NEW, OLD] })];
      await pass(10);
      server.subscribers.clear();
      await one.revoke({ kind: 'signedOut', tokenKey: tokenKeyOf('token') });
      service.users.clear();
      const get = other.link.get.bind(other.link);
      let asked = 0;
      other.link.get = (...wanted) => (asked++ % 2 === found ? get(...wanted) : new Promise(() => undefined));
      expect([await other.verify(), other.events.ended, asked]).toEqual(['unauthenticated', 1, 2]);
    },
  );
});

describe('the ends of sessions while an instance has no Redis', () => {
  it('are received when it is back, however many, by one forgetAll if need be [Q13]', async () => {
    const { service, server, instance } = fleet();
    const [one, other] = [instance(), instance()];
    expect(await other.verify()).toBe('authenticated');
    service.users.clear();
    one.link.isDown = true;
    await one.revoke(FORGET_ANN);
    for (let user = 0; user < 10_000; user += 1)
      await one.revoke({ kind: 'userRevoked', username: `user ${user}` });
    expect(server.published.length).toBe(0);
    one.link.isDown = false;
    await pass(5_000);
    expect([await other.verify(), other.events.forgotten.includes(undefined)]).toEqual([
      'unauthenticated',
      true,
    ]);
    expect(server.revocations.size).toBeGreaterThan(0);
  });

  it.each<[string, Revocation]>([
    ['a user', FORGET_ANN],
    ['all users', FORGET_ALL],
    ['a session', { kind: 'evicted', tokenKey: tokenKeyOf('token') }],
  ])('are delivered while it closes, if Redis is back in time: %s [Q12]', async (_name, revocation) => {
    const { server, instance } = fleet();
    const one = instance();
    one.link.isDown = true;
    void one.revoke(revocation);
    const closed = one.verifier.close();
    await pass(200);
    expect(server.published.length).toBe(0);
    one.link.isDown = false;
    await pass(200);
    await closed;
    expect([server.published.length, one.events.lost]).toEqual([1, 0]);
  });

  it('are received if it closes while it connects, although each command then takes longer than the timeout [Q12]', async () => {
    const { instance } = fleet();
    const [one, other] = [instance({ isDown: true }), instance()];
    void one.revoke(FORGET_ANN);
    const closed = one.verifier.close();
    await pass(300);
    one.link.isDown = false;
    one.link.tookMs = 3 * TIMEOUT_MS;
    await pass(700);
    await closed;
    expect([other.events.forgotten, one.events.lost]).toEqual([['ann'], 0]);
  });

  it('are reported by number if it closes and Redis stays away: it waits for at most a second [Q12]', async () => {
    const { instance } = fleet();
    const one = instance();
    one.link.isDown = true;
    for (const username of ['ann', 'bob', 'ann']) void one.revoke({ kind: 'userRevoked', username });
    one.verifier.revoker.signedOut('token');
    const closed = one.verifier.close();
    await pass(1_000);
    await closed;
    expect(one.events.lost).toBe(3);
    await one.revoke(FORGET_ALL);
    expect([one.events.lost, jest.getTimerCount()]).toEqual([4, 0]);
  });

  it('are reported although a sign-in issues the token again while it closes [Q12]', async () => {
    const { instance } = fleet();
    const one = instance();
    one.link.isDown = true;
    one.verifier.revoker.signedOut('token');
    await pass(100);
    one.link.tookMs = TIMEOUT_MS - 10;
    one.verifier.revoker.signedIn('token');
    const lost = one.verifier.close().then(() => one.events.lost);
    await pass(1_000);
    expect(await lost).toBe(1);
  });

  it('do not follow a sign-in that has issued the token again', async () => {
    const { server, instance } = fleet();
    const [one, other] = [instance(), instance()];
    one.link.isDown = true;
    one.verifier.revoker.signedOut('token');
    await pass(0);
    one.verifier.revoker.signedIn('token');
    one.link.isDown = false;
    await pass(2_000);
    expect(server.kinds).toEqual([]);
    expect([await other.verify(), other.events.ended]).toEqual(['authenticated', 0]);
  });
});

describe('the end of a session', () => {
  it('is emitted when its message arrives, although its tombstone was found before, and the service still accepted the session', async () => {
    const { instance } = fleet();
    const [one, other] = [instance(), instance()];
    await pass(10);
    await one.verifier.revoker.signingOut('token');
    expect([await other.verify(), other.events.ended]).toEqual(['authenticated', 1]);
    one.verifier.revoker.signedOut('token');
    await pass(10);
    expect([one.events.ended, other.events.ended]).toEqual([1, 2]);
  });

  it('is emitted when it is refused elsewhere, if a check has admitted the session since it was emitted last', async () => {
    const { service, instance } = fleet();
    const [one, other] = [instance(), instance()];
    await pass(10);
    const refusal = { kind: 'refused', tokenKey: tokenKeyOf('token') } as const;
    await one.revoke(refusal);
    await one.revoke(refusal);
    expect(other.events.ended).toBe(1);
    await pass(10);
    expect(await other.verify()).toBe('authenticated');
    service.users.clear();
    void one.verifier.verify({ token: 'token', authIv: undefined }, 0);
    await pass(10);
    expect([one.events.ended, other.events.ended]).toEqual([1, 2]);
  });
});

describe('a sign-out that could not be delivered before a sign-in issued the token again', () => {
  it('still voids the answers from before it, on other instances and in the store', async () => {
    const { service, instance } = fleet();
    const [one, other] = [instance(), instance()];
    await pass(10);
    expect(await other.verify()).toBe('authenticated');
    one.link.isDown = true;
    one.verifier.revoker.signedOut('token');
    await pass(0);
    one.verifier.revoker.signedIn('token');
    await pass(0);
    one.link.isDown = false;
    await pass(2_000);
    service.users.clear();
    expect([await instance().verify(), await other.verify()]).toEqual(['unauthenticated', 'unauthenticated']);
  });
});

describe('a sign-in that issues the token of a sign-out again', () => {
  it('permits at once to store its session, until the next sign-out, however soon that follows', async () => {
    const { service, instance } = fleet();
    const one = instance();
    await pass(10);
    one.verifier.revoker.signedOut('token');
    await pass(10);
    one.verifier.revoker.signedIn('token');
    await pass(0);
    // Instances that started later have no tombstones of their own.
    expect([await instance().verify(), await instance().verify(), service.calls]).toEqual([
      'authenticated',
      'authenticated',
      1,
    ]);
    one.verifier.revoker.signedOut('token');
    await pass(1_000);
    expect([await instance().verify(), await instance().verify(), service.calls]).toEqual([
      'authenticated',
      'authenticated',
      3,
    ]);
  });
});

describe('a message', () => {
  it('of the instance itself is ignored: its events are emitted once [Q19]', async () => {
    const { instance } = fleet();
    const [one, other] = [instance(), instance()];
    const { count } = one.verifier.revoker;
    await one.revoke(FORGET_ANN);
    await one.revoke(FORGET_ALL);
    expect([one.events.forgotten, other.events.forgotten]).toEqual(Array(2).fill(['ann', undefined]));
    expect(one.verifier.revoker.count - count).toBe(2);
  });

  it('that is sent again after its tombstone, or to an instance that started later, is ignored [Q18]', async () => {
    const { server, instance } = fleet();
    const [one, other] = [instance(), instance()];
    await one.revoke(FORGET_ANN);
    const [message = new Uint8Array()] = server.published;
    await pass(5_000);
    const later = instance();
    await pass(0);
    for (let times = 0; times < 10; times += 1)
      for (const subscriber of server.subscribers) subscriber.message(message);
    await pass(TOMBSTONE_MS + 1_000);
    for (const subscriber of server.subscribers) subscriber.message(message);
    await pass(1_000);
    expect([other.events.forgotten, later.events.forgotten]).toEqual([['ann'], []]);
  });

  it('is ignored if it was recorded before an instance started, although the first commands of the instance failed [Q18]', async () => {
    const { server, instance } = fleet();
    await instance().revoke(FORGET_ANN);
    await pass(5_000);
    const later = instance({ isDown: true });
    await pass(100);
    later.link.isDown = false;
    await pass(2_000);
    for (const subscriber of server.subscribers)
      for (const message of server.published) subscriber.message(message);
    await pass(1_000);
    expect(later.events.forgotten).toEqual([]);
  });

  it('is received although no entry can be read of the node of a Cluster that dates it', async () => {
    const { instance } = fleet();
    const [one, other] = [instance(), instance()];
    await pass(10);
    for (const { link } of [one, other]) {
      const get = link.get.bind(link);
      link.get = (key) => (key === 'clock' ? Promise.reject(new Error('CLUSTERDOWN')) : get(key));
    }
    await one.revoke(FORGET_ANN);
    expect(other.events.forgotten).toEqual(['ann']);
  });

  it('counts although the clock of the store steps, or its sender was without Redis for minutes', async () => {
    const { server, instance } = fleet();
    const [one, other] = [instance(), instance()];
    for (const stepMs of [-3_600_000, 3_600_000]) {
      server.clockOffsetMs += stepMs;
      await one.revoke(FORGET_ANN);
      await pass(0);
    }
    one.link.isDown = true;
    await one.revoke(FORGET_ALL);
    await pass(300_000);
    one.link.isDown = false;
    await pass(1_000);
    expect(other.events.forgotten).toEqual(['ann', 'ann', undefined]);
  });

  it('counts on hosts whose clocks are minutes apart, which is reported [Q08]', async () => {
    const { server, service, instance } = fleet();
    const [one, other] = [instance(), instance()];
    const publish = one.link.publish.bind(one.link);
    for (const apartMs of [600_000, -600_000]) {
      expect(await other.verify()).toBe('authenticated');
      one.link.publish = (message) => (jest.setSystemTime(Date.now() + apartMs), publish(message));
      await one.revoke({ kind: 'signedOut', tokenKey: tokenKeyOf('token') });
    }
    service.users.clear();
    expect([other.events.ended, other.events.clocks, await other.verify()]).toEqual([
      2,
      2,
      'unauthenticated',
    ]);
    expect(server.published.length).toBe(2);
  });

  it('counts for an instance that started just before, although its sender was suspended while it sent [Q18]', async () => {
    const { server, instance } = fleet();
    const one = instance();
    await pass(60_000);
    const forgotten: unknown[] = [];
    const get = one.link.get.bind(one.link);
    one.link.get = async (...asked) => {
      const entry = await get(...asked);
      // The wall clocks run on.
      jest.setSystemTime(Date.now() + 5_000);
      server.clockOffsetMs += 5_000;
      forgotten.push(instance().events.forgotten);
      return entry;
    };
    await one.revoke(FORGET_ANN);
    await pass(1_000);
    expect(new Set(forgotten.map(String))).toEqual(new Set(['ann']));
  });

  it('is published once, although each command takes longer than the timeout', async () => {
    const { server, instance } = fleet();
    const [one, other] = [instance(), instance()];
    await pass(10);
    one.link.tookMs = TIMEOUT_MS - 10;
    void one.revoke(FORGET_ANN);
    await pass(5_000);
    one.link.tookMs = TIMEOUT_MS + 10;
    void one.revoke(FORGET_ALL);
    await pass(60_000);
    expect([server.published.length, other.events.forgotten]).toEqual([2, ['ann', undefined]]);
  });

  it('that no secret opens is reported, but not if it is a copy for another secret of a rotation [Q21]', async () => {
    const { instance } = fleet();
    const [rotating, former, elsewhere] = [
      instance({ secrets: [NEW, OLD] }),
      instance({ secrets: [OLD] }),
      instance({ scope: 'service/' }),
    ];
    await rotating.revoke(FORGET_ANN);
    await pass(2_000);
    expect(
      [rotating, former, elsewhere].map(({ events }) => [events.unreadable > 0, events.forgotten]),
    ).toEqual([
      [false, ['ann']],
      [false, ['ann']],
      [true, []],
    ]);
  });
});

describe('what the store costs a check', () => {
  it('is its timeout at most, with two secrets and slow commands, and nothing after a few checks [Q15]', async () => {
    const { service, instance } = fleet();
    const secrets = [NEW, OLD] as const;
    const warm = instance({ secrets });
    const [first, ...tokens] = Array.from({ length: 8 }, (_, index) => `token ${index}`);
    for (const token of [first, ...tokens]) {
      service.users.set(String(token), { username: 'ann' });
      await warm.verify(token);
    }
    const { link, verifier } = instance({ secrets });
    link.tookMs = 30;
    const tookMs: number[] = [];
    for (const token of [first, ...tokens]) {
      const startMs = performance.now();
      const verdict = Promise.resolve(verifier.verify({ token: String(token), authIv: undefined })).then(() =>
        tookMs.push(performance.now() - startMs),
      );
      await pass(200);
      await verdict;
    }
    expect(Math.max(...tookMs)).toBeLessThanOrEqual(TIMEOUT_MS + 1);
    expect(tookMs.at(-1)).toBe(0);
  });
});
