import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import { sessionKeysOf } from '../contract/session-identity.js';
import { MemoryServer, MemoryStore } from '../../../../test/fleet/memory-store.js';
import { Fleet } from './fleet.js';

const SESSION = { token: 'token', authIv: undefined };
const KEYS = sessionKeysOf(SESSION);
const TTL_MS = 60_000;
const ANN = { username: 'ann' };
const ann: Verdict<object> = { kind: 'authenticated', user: ANN, json: ANN };
const stored = { kind: 'authenticated', user: ANN, confirmedAtMs: expect.any(Number) };

/**
 * An instance: `news` are the calls of its listener and its reports. Its service answers at once, or when the
 * test says so.
 */
function instanceOf(
  store: MemoryStore,
  answer: Verdict<object> | Promise<Verdict<object>> = ann,
  refreshAheadMs = 30_000,
) {
  const settings = {
    ...{ store, timeoutMs: 50, scope: 'scope', ttlMs: TTL_MS, tombstoneMs: 63_000, refreshAheadMs },
    secrets: ['a secret of sixteen', 'a former secret.'],
  } as const;
  const news: unknown[][] = [];
  const note = (name: string): [string, (...given: unknown[]) => void] => [
    name,
    (...given) => void news.push([name, ...given]),
  ];
  const reports = {
    ...Object.fromEntries(['failed', 'clockDiffers'].map(note)),
    answered: () => undefined,
    busStateChanged: () => undefined,
  };
  const state = { isRevoked: false, startedAtMs: 0, isCurrent: true, answer };
  /** When the answers that were compared with revocations were sent. */
  const compared: number[] = [];
  const listener = {
    ...Object.fromEntries(['receive', 'foundTombstone'].map(note)),
    messagesLost: () => undefined,
    isRevokedSince: (_user: object, atMs: number) => (compared.push(atMs), state.isRevoked),
  };
  const tier = new Fleet<object>(
    settings,
    (json) => json,
    reports as unknown as ConstructorParameters<typeof Fleet>[2],
  );
  tier.subscribe(listener as unknown as Parameters<typeof tier.subscribe>[0]);
  const call = jest.fn<(spentMs: number) => Promise<Verdict<object>>>(() => Promise.resolve(state.answer));
  return {
    tier,
    news,
    state,
    compared,
    call,
    check: () => tier.check(SESSION, KEYS, call, state),
    refresh: () => tier.refresh(SESSION, KEYS, call, state),
  };
}

/** Lets the promises of a store settle, and `ms` milliseconds pass. */
const sleep = (ms = 0): Promise<void> => jest.advanceTimersByTimeAsync(ms);
const kinds = ({ server }: MemoryStore): string[] => server.kinds;

beforeEach(() => {
  jest.useFakeTimers();
  jest.advanceTimersByTime(60_000);
});
afterEach(() => void jest.useRealTimers());

describe('a check by the instances of an application', () => {
  it('is answered by the store once one of them has called the service', async () => {
    const store = new MemoryStore(new MemoryServer());
    const [one, other] = [instanceOf(store), instanceOf(store)];
    expect(await one.check()).toEqual(ann);
    expect(await other.check()).toEqual(stored);
    expect([one.call.mock.calls, other.call.mock.calls, one.news]).toEqual([[[0]], [], []]);
  });

  it('makes a call while another one makes its own, and each stores its answer', async () => {
    const store = new MemoryStore(new MemoryServer());
    const [one, other] = [
      instanceOf(store, new Promise((resolve) => setTimeout(resolve, 200, ann))),
      instanceOf(store),
    ];
    const verdict = one.check();
    await sleep();
    expect(await other.check()).toEqual(ann);
    await sleep(200);
    expect([await verdict, await instanceOf(store).check()]).toEqual([ann, stored]);
    // The answer that arrived last was sent first, and expires first.
    await sleep(TTL_MS - 200);
    expect([kinds(store), await other.check()]).toEqual([['value'], ann]);
  });

  it('passes the time that its look-up took to its call', async () => {
    const store = new MemoryStore(new MemoryServer());
    const one = instanceOf(store);
    store.tookMs = 30;
    const verdict = one.check();
    await sleep(100);
    expect([await verdict, one.call.mock.calls]).toEqual([ann, [[30]]]);
  });

  it.each([
    ['a refusal', UNAUTHENTICATED],
    ['an outage', unavailable('busy')],
    ['an answer without its body', { ...ann, json: undefined }],
    ['an answer that may not be cached', { ...ann, cacheForMs: 0 }],
  ] as [string, Verdict<object>][])('stores nothing after %s', async (_name, answer) => {
    const store = new MemoryStore(new MemoryServer());
    const [one, other] = [instanceOf(store, answer), instanceOf(store)];
    expect(await one.check()).toEqual(answer);
    await sleep();
    expect([kinds(store), await other.check()]).toEqual([[], ann]);
  });

  it('reports a wall clock that differs from that of the instance which stored the answer', async () => {
    const store = new MemoryStore(new MemoryServer());
    const [one, other] = [instanceOf(store), instanceOf(store)];
    await one.check();
    jest.setSystemTime(Date.now() - 60_001);
    expect(await other.check()).toEqual(ann);
    expect(other.news).toEqual([['clockDiffers']]);
  });

  it.each([
    ['of a flight that was evicted', { isCurrent: false }],
    ['that is revoked according to the instance', { isRevoked: true }],
  ])('stores no answer %s', async (_what, state) => {
    const store = new MemoryStore(new MemoryServer());
    const one = instanceOf(store);
    Object.assign(one.state, state);
    await one.check();
    await sleep();
    expect(kinds(store)).toEqual([]);
  });

  it('makes a call while the store is down, and stores nothing afterwards', async () => {
    const store = new MemoryStore(new MemoryServer());
    const one = instanceOf(store, new Promise((resolve) => setTimeout(resolve, 10, ann)));
    store.isDown = true;
    const verdict = one.check();
    await sleep(5);
    store.isDown = false;
    await sleep(5);
    expect([await verdict, kinds(store)]).toEqual([ann, []]);
    expect(one.news).toContainEqual(['failed']);
  });

  it('stores an answer for the time that the service allows, counted from the start of its call', async () => {
    for (const [tookMs, cacheForMs, found] of [
      [1_000, TTL_MS, TTL_MS - 1_000],
      [1_000, 10_000, 9_000],
      [1_000, 1_001, 1],
      [1_000, 1_000, undefined],
    ] as const) {
      const store = new MemoryStore(new MemoryServer());
      const one = instanceOf(
        store,
        new Promise((resolve) => setTimeout(resolve, tookMs, { ...ann, cacheForMs })),
      );
      const verdict = one.check();
      await sleep(tookMs);
      await verdict;
      const [entry] = store.server.entries.values();
      expect(entry && entry.untilMs - store.server.nowMs).toBe(found);
    }
  });

  it.each([
    [59_000, 1_000],
    [TTL_MS, undefined],
    [-1, undefined],
  ])(
    'stores no answer for the time that the wall clock moved during its call: by %d ms, %p are left [P33]',
    async (ms, left) => {
      const store = new MemoryStore(new MemoryServer());
      const one = instanceOf(store);
      one.call.mockImplementation(() => (jest.setSystemTime(Date.now() + ms), Promise.resolve(ann)));
      await one.check();
      await sleep();
      const [entry] = store.server.entries.values();
      expect(entry && entry.untilMs - store.server.nowMs).toBe(left);
    },
  );

  it('considers no answer younger than it is, with slow look-ups and a wall clock that was set back', async () => {
    const store = new MemoryStore(new MemoryServer());
    const one = instanceOf(store);
    const get = store.get.bind(store);
    store.get = async (key) => {
      const entry = await get(key);
      await new Promise((resolve) => setTimeout(resolve, 49));
      return entry;
    };
    for (let time = 0; time < 3; time += 1) {
      const verdict = one.check();
      await sleep(200);
      await verdict;
      jest.setSystemTime(Date.now() - 1_000);
    }
    const [sentAtMs = NaN, ...fromStore] = one.compared;
    expect(one.call).toHaveBeenCalledTimes(1);
    expect(fromStore.map((atMs) => atMs <= sentAtMs)).toEqual([true, true]);
  });

  it('deletes a stored answer that may no longer be cached', async () => {
    const store = new MemoryStore(new MemoryServer());
    const one = instanceOf(store);
    await one.check();
    await sleep(40_000);
    one.state.answer = Promise.resolve({ ...ann, cacheForMs: 0 });
    await one.refresh();
    await sleep();
    expect(kinds(store)).toEqual([]);
  });
});

describe('a tombstone in the store', () => {
  it('is reported when a check finds it, and the service decides', async () => {
    const store = new MemoryStore(new MemoryServer());
    const [one, other] = [instanceOf(store), instanceOf(store, UNAUTHENTICATED)];
    await one.tier.deliver({ kind: 'signingOut', tokenKey: KEYS.tokenKey });
    expect(await other.check()).toEqual(UNAUTHENTICATED);
    expect([other.news, kinds(store)]).toEqual([
      [['foundTombstone', KEYS.tokenKey]],
      ['tombstone', 'tombstone'],
    ]);
  });

  it('is reported when an answer cannot be stored because of it', async () => {
    const store = new MemoryStore(new MemoryServer());
    const one = instanceOf(store, new Promise((resolve) => setTimeout(resolve, 10, ann)));
    const verdict = one.check();
    await sleep(5);
    await one.tier.deliver({ kind: 'signingOut', tokenKey: KEYS.tokenKey });
    expect(one.news).toEqual([]);
    await sleep(5);
    expect([await verdict, one.news]).toEqual([ann, [['foundTombstone', KEYS.tokenKey]]]);
  });
});

describe('a refresh', () => {
  async function storedFor(ms: number) {
    const store = new MemoryStore(new MemoryServer());
    const [one, other] = [instanceOf(store), instanceOf(store)];
    await one.check();
    await sleep(ms);
    return { store, one, other };
  }

  it('uses an answer that another instance has refreshed already', async () => {
    const { store, one, other } = await storedFor(29_999);
    expect(await other.refresh()).toEqual(stored);
    expect([one.call.mock.calls.length, other.call.mock.calls.length, kinds(store)]).toEqual([
      1,
      0,
      ['value'],
    ]);
  });

  it('makes a call for an older answer, which replaces it', async () => {
    const { store, one, other } = await storedFor(30_000);
    expect(await other.refresh()).toEqual(ann);
    await sleep(TTL_MS - 1);
    expect(await one.check()).toEqual(stored);
    expect([one.call.mock.calls.length, other.call.mock.calls.length, kinds(store)]).toEqual([
      1,
      1,
      ['value'],
    ]);
  });
});
