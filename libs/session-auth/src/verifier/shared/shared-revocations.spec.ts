import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SessionStore, type StoreEntry } from '../../contract/session-store.js';
import { tokenKeyOf } from '../../contract/session-identity.js';
import { SharedTier } from './shared-tier.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const TOKEN_KEY = tokenKeyOf('token');

/** A store that notes its calls, and refuses them while it is down. */
class NotingStore extends SessionStore {
  readonly calls: string[] = [];
  isDown = false;

  get = (): Promise<StoreEntry> => this.#call('get', { kind: 'none', storeTimeMs: 1 } as const);
  set = (): Promise<boolean> => this.#call('set', true);
  delete = (): Promise<boolean> => this.#call('delete', true);
  keepAlive = (): Promise<void> => this.#call('keepAlive', undefined);
  releaseLease = (): Promise<void> => this.#call('releaseLease', undefined);
  setTombstone = (): Promise<void> => this.#call('setTombstone', undefined);
  clearTombstone = (): Promise<void> => this.#call('clearTombstone', undefined);
  setRevocation = (): Promise<void> => this.#call('setRevocation', undefined);
  getRevocations = (): Promise<readonly undefined[]> => this.#call('getRevocations', []);
  publish = (): Promise<void> => this.#call('publish', undefined);
  subscribe = (): (() => Promise<void>) => () => Promise.resolve();

  #call<Result>(name: string, result: Result): Promise<Result> {
    if (this.isDown) return Promise.reject(new Error('The store is down'));
    this.calls.push(name);
    return Promise.resolve(result);
  }
}

/** Signs a session out and, once the store is up, in again. Returns the calls of the sign-in. */
async function signInAfterSignOut({ isDown }: { readonly isDown: boolean }): Promise<string[]> {
  const store = new NotingStore();
  const ages = { ttlMs: 60_000, tombstoneMs: 63_000, refreshAheadMs: 0, refreshPauseMs: 1_000, leaseMs: 3_000, graceMs: 50 };
  const settings = { store, timeoutMs: 50, secrets: ['a secret of sixteen'], scope: 'scope', ...ages } as const;
  const reports = { failed: () => undefined, clockDiffers: () => undefined, busStateChanged: () => undefined };
  const tier = new SharedTier(settings, (json) => json, reports);
  store.isDown = isDown;
  await tier.revocations.setTombstone(TOKEN_KEY);
  await tier.revocations.publish({ kind: 'signedOut', tokenKey: TOKEN_KEY });
  store.isDown = false;
  const before = store.calls.length;
  await tier.revocations.clearTombstone(TOKEN_KEY);
  await jest.advanceTimersByTimeAsync(10_000);
  await tier.close();
  return store.calls.slice(before).sort();
}

describe('a sign-in that issues a token which was signed out', () => {
  it('removes its tombstone', async () => {
    expect(await signInAfterSignOut({ isDown: false })).toEqual(['clearTombstone']);
  });

  it('evicts the answers from before the sign-out, if the store has not received the sign-out', async () => {
    expect(await signInAfterSignOut({ isDown: true })).toEqual(['clearTombstone', 'delete', 'publish', 'setRevocation']);
  });
});
