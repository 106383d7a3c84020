import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { tokenKeyOf } from '../../contract/session-identity.js';
import type { SessionStore, StoreSubscriber } from '../../contract/session-store.js';
import { SessionSeal } from './session-seal.js';
import type { SharedRevocations } from './shared-revocations.js';
import { SharedTier } from './shared-tier.js';

const SECRETS = ['a secret of sixteen', 'a former secret.'] as const;
const SEALS = SECRETS.map((secret) => new SessionSeal(secret, 'scope'));
const TOKEN_KEY = tokenKeyOf('token');
const NAMES = SEALS.map((seal) => seal.nameOf(TOKEN_KEY));
const ignore = (): undefined => undefined;

/** A store that notes its writes, has these sessions, and passes messages on. */
class NotingStore {
  readonly writes: unknown[][] = [];
  readonly sessions = new Set<string>();
  readonly subscribers = new Set<StoreSubscriber>();
  isDown = false;

  setTombstone = (key: string, ttlMs: number): Promise<void> => this.#write('setTombstone', key, ttlMs);
  clearTombstone = (key: string): Promise<void> => this.#write('clearTombstone', key);
  setRevocation = (key: string, ttlMs: number): Promise<void> => this.#write('setRevocation', key, ttlMs);
  delete = async (key: string): Promise<boolean> => {
    await this.#write('delete', key);
    return this.sessions.has(key);
  };
  publish = async (bytes: Uint8Array): Promise<void> => {
    await this.#write('publish');
    for (const subscriber of this.subscribers) subscriber.message(bytes);
  };
  subscribe = (subscriber: StoreSubscriber): (() => Promise<void>) => {
    this.subscribers.add(subscriber);
    return () => Promise.resolve(void this.subscribers.delete(subscriber));
  };

  #write(...write: unknown[]): Promise<void> {
    if (this.isDown) return Promise.reject(new Error('down'));
    this.writes.push(write);
    return Promise.resolve();
  }
}

/** An instance; `news` are the calls of its listener and its reports. */
function instanceOf(store: NotingStore, { isSubscribed = true } = {}) {
  const ages = { ttlMs: 60_000, tombstoneMs: 63_000, refreshAheadMs: 0, refreshPauseMs: 1_000, leaseMs: 3_000, graceMs: 50 };
  const settings = { store: store as unknown as SessionStore, timeoutMs: 50, secrets: SECRETS, scope: 'scope', ...ages };
  const news: unknown[][] = [];
  const note = (name: string): [string, (...given: unknown[]) => void] => [name, (...given) => void news.push([name, ...given])];
  const reports = { failed: ignore, ...Object.fromEntries(['clockDiffers', 'busStateChanged'].map(note)) };
  const names = ['signedOut', 'foundTombstone', 'refused', 'evicted', 'userRevoked', 'allRevoked', 'messagesLost'];
  const isRevoked = (...given: unknown[]): boolean => (news.push(['isRevoked', ...given]), true);
  const listener = { ...Object.fromEntries(names.map(note)), isRevoked } as unknown as Parameters<SharedRevocations['subscribe']>[0];
  const tier = new SharedTier(settings, (json) => json, reports as unknown as ConstructorParameters<typeof SharedTier>[2]);
  if (isSubscribed) tier.revocations.subscribe(listener);
  return { tier, news, revocations: tier.revocations };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('a revocation that an instance publishes', () => {
  it.each<[string, (revocations: SharedRevocations) => Promise<void>, unknown[]]>([
    ['a sign-out', (revocations) => revocations.publish({ kind: 'signedOut', tokenKey: TOKEN_KEY }), ['signedOut', TOKEN_KEY]],
    ['a refusal', (revocations) => revocations.refused(TOKEN_KEY, 'refused', true), ['refused', TOKEN_KEY]],
    ['an eviction after a 403', (revocations) => revocations.refused(TOKEN_KEY, 'evicted', true), ['evicted', TOKEN_KEY]],
    ['an eviction', (revocations) => revocations.evict(TOKEN_KEY), ['evicted', TOKEN_KEY]],
    ['of a user', (revocations) => revocations.revokeUser('ann'), ['userRevoked', 'ann']],
    ['of all users', (revocations) => revocations.revokeAll(), ['allRevoked']],
  ])('arrives at the others: %s', async (_name, act, news) => {
    const store = new NotingStore();
    const [one, other] = [instanceOf(store), instanceOf(store)];
    await act(one.revocations);
    expect(other.news).toEqual([news]);
  });

  it('is recorded in the store under each secret, so that earlier answers do not count', async () => {
    for (const [act, nameOf] of [
      [(of: SharedRevocations) => of.evict(TOKEN_KEY), (seal: SessionSeal) => seal.nameOfRevoked(TOKEN_KEY)],
      [(of: SharedRevocations) => of.revokeUser('ann'), (seal: SessionSeal) => seal.nameOfUser('ann')],
      [(of: SharedRevocations) => of.revokeAll(), (seal: SessionSeal) => seal.nameOfAll],
    ] as const) {
      const store = new NotingStore();
      await act(instanceOf(store).revocations);
      const records = store.writes.filter(([name]) => name === 'setRevocation');
      expect(records).toEqual(SEALS.map((seal) => ['setRevocation', nameOf(seal), 63_000]));
    }
  });

  it('of a refused session is published only if the session was cached, here or in the store', async () => {
    for (const [wasCached, wasStored] of [
      [false, false],
      [true, false],
      [false, true],
    ] as const) {
      const store = new NotingStore();
      if (wasStored) store.sessions.add(NAMES[1] ?? '');
      const other = instanceOf(store);
      await instanceOf(store).revocations.refused(TOKEN_KEY, 'refused', wasCached);
      expect(store.writes.slice(0, 2)).toEqual(NAMES.map((name) => ['delete', name]));
      expect(other.news).toEqual(wasCached || wasStored ? [['refused', TOKEN_KEY]] : []);
    }
  });

  it('is retried when the subscription starts again, and any session may have been revoked meanwhile', async () => {
    const store = new NotingStore();
    const { news, revocations } = instanceOf(store);
    store.isDown = true;
    await revocations.setTombstone(TOKEN_KEY);
    store.isDown = false;
    for (const subscriber of store.subscribers) subscriber.subscribed();
    await jest.advanceTimersByTimeAsync(0);
    expect(news).toEqual([['busStateChanged', 'connected'], ['messagesLost']]);
    expect(store.writes).toEqual(NAMES.map((name) => ['setTombstone', name, 63_000]));
  });
});

describe('the tombstone of a session', () => {
  it('is set and removed under each secret', async () => {
    const store = new NotingStore();
    const { revocations } = instanceOf(store);
    await revocations.setTombstone(TOKEN_KEY);
    await revocations.clearTombstone(TOKEN_KEY);
    expect(store.writes).toEqual([
      ...NAMES.map((name) => ['setTombstone', name, 63_000]),
      ...NAMES.map((name) => ['clearTombstone', name]),
    ]);
  });
});

describe('an instance', () => {
  it('reports an interruption of the messages, and a wall clock that differs', () => {
    const store = new NotingStore();
    const { news } = instanceOf(store);
    for (const subscriber of store.subscribers) {
      subscriber.interrupted('The connection is closed.');
      const message = { kind: 'other', id: 'id', at: Date.now() - 60_001 };
      subscriber.message(new SessionSeal(SECRETS[0], 'scope').sealMessage(JSON.stringify(message)));
    }
    expect(news).toEqual([['busStateChanged', 'interrupted', 'The connection is closed.'], ['clockDiffers']]);
  });

  it('compares answers with its own revocations', () => {
    const { news, revocations } = instanceOf(new NotingStore());
    expect(revocations.isRevoked({}, 7, TOKEN_KEY)).toBe(true);
    revocations.foundTombstone(TOKEN_KEY);
    expect(news).toEqual([
      ['isRevoked', {}, 7, TOKEN_KEY],
      ['foundTombstone', TOKEN_KEY],
    ]);
  });

  it('receives nothing and retries nothing after it has closed', async () => {
    const store = new NotingStore();
    const { tier, revocations } = instanceOf(store);
    store.isDown = true;
    await revocations.setTombstone(TOKEN_KEY);
    await tier.close();
    store.isDown = false;
    await jest.advanceTimersByTimeAsync(10_000);
    expect([store.subscribers.size, store.writes]).toEqual([0, []]);
  });

  it('that is not subscribed revokes nothing, and can be closed', async () => {
    const { tier, news, revocations } = instanceOf(new NotingStore(), { isSubscribed: false });
    revocations.foundTombstone(TOKEN_KEY);
    expect([revocations.isRevoked({}, 0, TOKEN_KEY), news]).toEqual([false, []]);
    await expect(tier.close()).resolves.toBeUndefined();
  });
});
