import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { tokenKeyOf } from '../../contract/session-identity.js';
import type { SessionStore } from '../../contract/session-store.js';
import { Outbox } from './outbox.js';
import { RevocationRecords } from './revocation-records.js';
import { SessionSeal } from './session-seal.js';
import { StoreAccess } from './store-access.js';

const TOKEN_KEY = tokenKeyOf('token');
const SEALS = ['the first secret', 'the former secret'].map((secret) => new SessionSeal(secret, 'scope'));

/** Records in a store whose clock the test sets. */
function recordsWith() {
  const store = {
    nowMs: 10_000,
    isDown: false,
    revokedAtMs: new Map<string, number>(),
    setRevocation: (key: string, ttlMs: number): Promise<void> => {
      expect(ttlMs).toBe(63_000);
      store.revokedAtMs.set(key, store.nowMs);
      return Promise.resolve();
    },
    getRevocations: (keys: readonly string[]): Promise<(number | undefined)[]> =>
      store.isDown ? Promise.reject(new Error('down')) : Promise.resolve(keys.map((key) => store.revokedAtMs.get(key))),
  };
  const access = new StoreAccess(50, () => undefined);
  const parts = { store: store as unknown as SessionStore, access, outbox: new Outbox(access), seals: SEALS, forMs: 63_000 };
  const records = new RevocationRecords(parts);
  return {
    store,
    records,
    isRevoked: (sinceMs: number, token = 'token', username: unknown = 'ann') =>
      records.isRevoked({ tokenKey: tokenKeyOf(token), username, sinceMs }),
  };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('a revocation in the store', () => {
  it('of a session revokes its entries from before it or up to a second later, and no other session', async () => {
    const { records, isRevoked } = recordsWith();
    expect(await isRevoked(9_000)).toBe(false);
    await records.addSession(TOKEN_KEY);
    expect(await Promise.all([0, 9_000, 10_000, 11_000, 11_001].map((sinceMs) => isRevoked(sinceMs)))).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
    expect(await isRevoked(9_000, 'another')).toBe(false);
  });

  it('of a user revokes the sessions of that user alone', async () => {
    const { records, isRevoked } = recordsWith();
    await records.addUser('ann');
    const users = ['ann', 'bob', undefined, 7];
    const found = await Promise.all(users.map((username) => records.isRevoked({ tokenKey: TOKEN_KEY, username, sinceMs: 9_000 })));
    expect(found).toEqual([true, false, false, false]);
    expect(await isRevoked(11_001)).toBe(false);
  });

  it('of all revokes every session', async () => {
    const { records, isRevoked } = recordsWith();
    await records.addAll();
    expect(await Promise.all([isRevoked(9_000), isRevoked(9_000, 'another', 'bob'), isRevoked(11_001)])).toEqual([true, true, false]);
  });

  it('is recorded under each secret, and found under each', async () => {
    for (const [username, names] of [
      [undefined, (seal: SessionSeal) => [seal.nameOfAll, seal.nameOfRevoked(TOKEN_KEY)]],
      ['ann', (seal: SessionSeal) => [seal.nameOfAll, seal.nameOfRevoked(TOKEN_KEY), seal.nameOfUser('ann')]],
    ] as const) {
      const { store, records } = recordsWith();
      await Promise.all([records.addSession(TOKEN_KEY), records.addUser('ann'), records.addAll()]);
      expect(store.revokedAtMs.size).toBe(6);
      for (const name of SEALS.flatMap(names)) {
        const only = recordsWith();
        only.store.revokedAtMs.set(name, 10_000);
        expect([name, await only.records.isRevoked({ tokenKey: TOKEN_KEY, username, sinceMs: 9_000 })]).toEqual([name, true]);
      }
    }
  });

  it('is assumed while the store does not answer', async () => {
    const { store, isRevoked } = recordsWith();
    store.isDown = true;
    expect(await isRevoked(9_000)).toBe(true);
  });

  it('is looked up by its names alone', async () => {
    const { store, records } = recordsWith();
    const asked: (readonly string[])[] = [];
    store.getRevocations = (keys) => Promise.resolve((asked.push(keys), []));
    await records.isRevoked({ tokenKey: TOKEN_KEY, username: undefined, sinceMs: 9_000 });
    expect(asked).toEqual([SEALS.flatMap((seal) => [seal.nameOfAll, seal.nameOfRevoked(TOKEN_KEY)])]);
  });
});
