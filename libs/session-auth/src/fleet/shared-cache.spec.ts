import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { sessionKeysOf, type TokenKey } from '../contract/session-identity.js';
import type { SessionStore, StoreEntry } from '../contract/session-store.js';
import { SessionSeal } from './session-seal.js';
import { writeSharedRecord } from './shared-record.js';
import { SharedCache } from './shared-cache.js';
import { StoreAccess } from './store-access.js';

const SESSION = { token: 'token', authIv: undefined };
const KEYS = sessionKeysOf(SESSION);
const SECRETS = ['the first secret', 'the former secret'] as const;
const [SEAL, FORMER] = SECRETS.map((secret) => new SessionSeal(secret, 'scope')) as [
  SessionSeal,
  SessionSeal,
];
const [NAME, FORMER_NAME] = [SEAL, FORMER].map((seal) => seal.nameOf(KEYS.tokenKey)) as [string, string];
const TTL_MS = 60_000;
const STORE_TIME_MS = 100_000;
const NONE = { kind: 'none', storeTimeMs: STORE_TIME_MS } as const;
const TOMBSTONE = { kind: 'tombstone', storeTimeMs: STORE_TIME_MS } as const;
const ANN = { username: 'ann' };

/** A store with these entries. */
function storeWith(entries: Record<string, StoreEntry>) {
  const asked: string[] = [];
  const sets: unknown[][] = [];
  const deleted: string[] = [];
  const store = {
    isDown: false,
    entries,
    asked,
    sets,
    deleted,
    revoked: '',
    revokedAtMs: 0,
    get: (name: string): Promise<StoreEntry> => {
      asked.push(name);
      return store.reply(entries[name] ?? NONE);
    },
    set: (name: string, value: Uint8Array, ttlMs: number): Promise<boolean> => {
      sets.push([name, ttlMs]);
      if (entries[name]?.kind === 'tombstone') return store.reply(false);
      entries[name] = { kind: 'value', value, remainingMs: ttlMs, storeTimeMs: STORE_TIME_MS };
      return store.reply(true);
    },
    delete: (name: string): Promise<boolean> => {
      deleted.push(name);
      return store.reply(entries[name]?.kind === 'value');
    },
    getRevocations: (names: readonly string[]): Promise<(number | undefined)[]> =>
      store.reply(names.map((name) => (name === store.revoked ? store.revokedAtMs : undefined))),
    reply: <Value>(value: Value): Promise<Value> =>
      store.isDown ? Promise.reject(new Error('down')) : Promise.resolve(value),
  };
  return store;
}

function cacheWith(
  entries: Record<string, StoreEntry> = {},
  secrets: readonly [string, ...string[]] = SECRETS,
) {
  const fake = storeWith(entries);
  const store = fake as unknown as SessionStore;
  const access = new StoreAccess({ store, secrets, scope: 'scope', timeoutMs: 50 }, () => undefined);
  const reported = { clocks: 0, compared: [] as [number, TokenKey][], isRevokedHere: false };
  const cache = new SharedCache<{ username?: unknown }>({
    access,
    ttlMs: TTL_MS,
    readUser: (json: { username?: unknown }) => {
      if (json.username === 'odd') throw new Error('of the application');
      return json.username === 'unknown' ? undefined : { ...json, ...ANN };
    },
    isRevokedHere: (_user, confirmedAtMs, tokenKey) => (
      reported.compared.push([confirmedAtMs, tokenKey]),
      reported.isRevokedHere
    ),
    clockDiffers: () => void (reported.clocks += 1),
  });
  const find = (maxAgeMs = Infinity) => cache.find(SESSION, KEYS, maxAgeMs);
  return { store: fake, reported, cache, find };
}

interface Ages {
  readonly ttlMs: number;
  readonly ageMs: number;
  readonly remainingMs: number;
}

/** A stored value, written with these ages. */
function valueOf({ remainingMs, ...ages }: Ages): StoreEntry {
  const text = writeSharedRecord(ANN, SESSION.token, { ...ages, sinceMs: 100_000, hostMs: Date.now() });
  return { kind: 'value', value: SEAL.sealValue(KEYS, text), remainingMs, storeTimeMs: STORE_TIME_MS };
}

/** A cache with an answer that was `ageMs` old when it was stored, and was stored under a secret. */
async function cachedWith({
  json = ANN,
  ageMs = 0,
  secret = SECRETS[0],
}: { json?: object; ageMs?: number; secret?: string } = {}) {
  const writer = cacheWith({}, [secret]);
  expect(await writer.cache.set(SESSION, KEYS, json, { ageMs, sinceMs: 100_000 })).toBe(true);
  return cacheWith(writer.store.entries);
}

beforeEach(() => {
  jest.useFakeTimers();
  jest.advanceTimersByTime(200_000);
});
afterEach(() => void jest.useRealTimers());

describe('a look-up', () => {
  it('finds an answer, which is as old as it was when it was stored', async () => {
    const { reported, find } = await cachedWith({ ageMs: 20_000 });
    const confirmedAtMs = performance.now() - 20_000;
    expect(await find()).toEqual({
      kind: 'found',
      verdict: { kind: 'authenticated', user: ANN, confirmedAtMs },
    });
    expect([reported.compared, reported.clocks]).toEqual([[[confirmedAtMs, KEYS.tokenKey]], 0]);
  });

  it('finds an answer that was stored under a former secret', async () => {
    const { store, find } = await cachedWith({ secret: SECRETS[1] });
    expect(await find()).toMatchObject({ kind: 'found', verdict: { user: ANN } });
    expect(store.asked).toEqual([NAME, FORMER_NAME]);
  });

  it.each([NAME, FORMER_NAME])('finds a tombstone under each secret', async (name) => {
    for (let time = 0; time < 20; time += 1) {
      const { find } = cacheWith({ [name]: TOMBSTONE });
      expect(await find()).toEqual({ kind: 'revoked' });
    }
  });

  it('finds nothing under either secret, and the time of the store', async () => {
    const { store, find } = cacheWith();
    expect(await find()).toEqual({ kind: 'missing', sinceMs: STORE_TIME_MS });
    expect(store.asked).toEqual([NAME, FORMER_NAME]);
  });

  it('has no result while the store is down, nor if it returns no time', async () => {
    const { store, find } = cacheWith();
    store.isDown = true;
    expect(await find()).toEqual({ kind: 'unanswered' });
    const { find: findBroken } = cacheWith({ [NAME]: { kind: 'none' } as StoreEntry });
    expect(await findBroken()).toEqual({ kind: 'unanswered' });
  });
});

describe('an answer in the store', () => {
  const missing = { kind: 'missing', sinceMs: STORE_TIME_MS };

  it('must be younger than the limit of the caller', async () => {
    const { find } = await cachedWith({ ageMs: 20_000 });
    expect([(await find(20_001)).kind, await find(20_000)]).toEqual(['found', missing]);
  });

  it('must be younger than its lifetime, even if a writer of the store gave it a new one', async () => {
    const { find } = await cachedWith();
    jest.setSystemTime(Date.now() + TTL_MS - 1);
    expect((await find()).kind).toBe('found');
    jest.setSystemTime(Date.now() + 1);
    expect(await find()).toEqual(missing);
  });

  it('must be of the session', async () => {
    const { store, cache } = await cachedWith();
    const other = { token: 'other', authIv: undefined };
    store.entries[SEAL.nameOf(sessionKeysOf(other).tokenKey)] = store.entries[NAME] ?? NONE;
    expect(await cache.find(other, sessionKeysOf(other), Infinity)).toEqual(missing);
    const withIv = { ...SESSION, authIv: 'iv' };
    expect(await cache.find(withIv, sessionKeysOf(withIv), Infinity)).toEqual(missing);
  });

  it('must have a user record that this application accepts', async () => {
    for (const username of ['unknown', 'odd'])
      expect(await (await cachedWith({ json: { username } })).find()).toEqual(missing);
  });

  it('must have an age', async () => {
    const { find } = cacheWith({ [NAME]: valueOf({ ttlMs: TTL_MS, ageMs: 0, remainingMs: NaN }) });
    expect(await find()).toEqual(missing);
  });

  it('must not be revoked in the store, by any name and up to a second before, or here', async () => {
    const { store, reported, find } = await cachedWith({ json: { username: 'ANN' } });
    for (const seal of [SEAL, FORMER]) {
      const users = ['ANN', 'ann'].map((name) => seal.nameOfUser(name));
      for (const revoked of [seal.nameOfAll, seal.nameOfRevoked(KEYS.tokenKey), ...users]) {
        Object.assign(store, { revoked, revokedAtMs: 99_000 });
        expect(await find()).toEqual(missing);
        store.revokedAtMs = 98_999;
        expect((await find()).kind).toBe('found');
      }
    }
    reported.isRevokedHere = true;
    expect(await find()).toEqual(missing);
  });

  it('must have a form that this version supports', async () => {
    for (const text of ['{}', '{"confirmedAt":0}', 'null', '{']) {
      const at = { remainingMs: TTL_MS, storeTimeMs: STORE_TIME_MS };
      const { find } = cacheWith({ [NAME]: { kind: 'value', value: SEAL.sealValue(KEYS, text), ...at } });
      expect(await find()).toEqual(missing);
    }
  });

  it('reports a wall clock that differs, and is unusable if it is behind [Q14]', async () => {
    const { reported, find } = await cachedWith();
    jest.setSystemTime(Date.now() - 60_001);
    expect([(await find()).kind, reported.clocks]).toEqual(['missing', 1]);
  });

  it('ends with the lifetime that its writer gave it, if that is shorter [Q16]', async () => {
    const { find } = cacheWith({
      [NAME]: valueOf({ ttlMs: TTL_MS / 2, ageMs: 1_000, remainingMs: TTL_MS / 2 - 1_000 }),
    });
    expect(await find()).toMatchObject({ kind: 'found', verdict: { cacheForMs: TTL_MS / 2 } });
    const { find: findLonger } = cacheWith({
      [NAME]: valueOf({ ttlMs: 2 * TTL_MS, ageMs: TTL_MS, remainingMs: TTL_MS }),
    });
    expect((await findLonger()).kind).toBe('missing');
  });
});

describe('storing an answer', () => {
  it('gives it the rest of its lifetime', async () => {
    const { store, cache } = cacheWith();
    await cache.set(SESSION, KEYS, ANN, { ageMs: 20_000, sinceMs: 100_000 });
    expect(store.sets).toEqual([[NAME, TTL_MS - 20_000]]);
  });

  it('leaves out a record that is nested too deeply to be written', async () => {
    const { store, cache } = cacheWith();
    const deep = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)) as object;
    expect([
      await cache.set(SESSION, KEYS, { ...ANN, deep }, { ageMs: 0, sinceMs: STORE_TIME_MS }),
      store.sets,
    ]).toEqual([true, []]);
  });

  it('fails only for a revoked session, not while the store is down', async () => {
    const { store, cache } = cacheWith({ [NAME]: TOMBSTONE });
    expect(await cache.set(SESSION, KEYS, ANN, { ageMs: 0, sinceMs: 100_000 })).toBe(false);
    store.isDown = true;
    expect(await cache.set(SESSION, KEYS, ANN, { ageMs: 0, sinceMs: 100_000 })).toBe(true);
  });
});

describe('deleting an answer', () => {
  it('happens under each secret, and returns whether there was one', async () => {
    for (const secret of SECRETS) {
      const { store, cache } = await cachedWith({ secret });
      expect(await cache.delete(KEYS.tokenKey)).toBe(true);
      expect(store.deleted).toEqual([NAME, FORMER_NAME]);
    }
    expect(await cacheWith().cache.delete(KEYS.tokenKey)).toBe(false);
    const both = await cachedWith();
    both.store.entries[FORMER_NAME] = both.store.entries[NAME] ?? NONE;
    expect(await both.cache.delete(KEYS.tokenKey)).toBe(true);
  });
});
