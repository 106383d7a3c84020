import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SessionStore, type StoreEntry, type StoreEntryKind, type StoreLease } from '../../contract/session-store.js';
import { sessionKeysOf } from '../../contract/session-identity.js';
import { SharedTier } from './shared-tier.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const TIMEOUT_MS = 50;
const SESSION = { token: 'token', authIv: undefined };

/** A store that answers look-ups after a while, and notes the leases that it is given back. */
class SlowStore extends SessionStore {
  readonly asked: { readonly key: string; readonly lease: string | undefined }[] = [];
  readonly released: { readonly key: string; readonly lease: string }[] = [];

  constructor(
    private readonly tookMs: number,
    private readonly found: StoreEntryKind = { kind: 'none' },
  ) {
    super();
  }

  get(key: string, lease?: StoreLease): Promise<StoreEntry> {
    this.asked.push({ key, lease: lease?.id });
    return new Promise((resolve) => setTimeout(resolve, this.tookMs, { ...this.found, storeTimeMs: 1 }));
  }

  releaseLease(key: string, id: string): Promise<void> {
    this.released.push({ key, lease: id });
    return Promise.resolve();
  }

  set = (): Promise<boolean> => Promise.resolve(true);
  delete = (): Promise<boolean> => Promise.resolve(false);
  keepAlive = (): Promise<void> => Promise.resolve();
  setTombstone = (): Promise<void> => Promise.resolve();
  clearTombstone = (): Promise<void> => Promise.resolve();
  setRevocation = (): Promise<void> => Promise.resolve();
  getRevocations = (): Promise<readonly undefined[]> => Promise.resolve([]);
  publish = (): Promise<void> => Promise.resolve();
  subscribe = (): (() => Promise<void>) => () => Promise.resolve();
}

/** Has sessions checked, one after the other, by a service that answers at once. Returns how many it was asked about. */
async function check(store: SlowStore, { way = 'check', times = 1 }: { way?: 'check' | 'refresh'; times?: number } = {}): Promise<number> {
  const ages = { ttlMs: 60_000, tombstoneMs: 63_000, refreshAheadMs: 30_000, refreshPauseMs: 1_000, leaseMs: 3_000, graceMs: TIMEOUT_MS };
  const settings = { store, timeoutMs: TIMEOUT_MS, secrets: ['a secret of sixteen'], scope: 'scope', ...ages } as const;
  const reports = { failed: () => undefined, clockDiffers: () => undefined, busStateChanged: () => undefined };
  const tier = new SharedTier(settings, (json) => json, reports);
  const ask = jest.fn(() => Promise.resolve({ kind: 'authenticated', user: {}, json: {} } as const));
  const service = { ask, patienceMs: 100, timeoutMs: 3_000 };
  for (let time = 0; time < times; time += 1) {
    const verdict = tier[way](SESSION, sessionKeysOf(SESSION), service, { isCurrent: () => true });
    await jest.advanceTimersByTimeAsync(5 * TIMEOUT_MS);
    await verdict;
  }
  await tier.close();
  return ask.mock.calls.length;
}

describe('a store that answers after its timeout', () => {
  it('gets a release of the lease that it granted too late', async () => {
    const store = new SlowStore(TIMEOUT_MS + 1);
    expect(await check(store)).toBe(1);
    expect(store.released).toEqual(store.asked);
    expect(store.released).toHaveLength(1);
  });

  it('gets the release also while calls to it are paused', async () => {
    const store = new SlowStore(2 * TIMEOUT_MS);
    expect(await check(store, { times: 3 })).toBe(3);
    expect(store.asked).toHaveLength(2);
    expect(store.released).toEqual(store.asked);
  });

  it('gets no release of the lease of another instance, a session, or the lock of a refresh', async () => {
    const leased = new SlowStore(TIMEOUT_MS + 1, { kind: 'leased', lease: 'of-another' });
    const stored = new SlowStore(TIMEOUT_MS + 1, { kind: 'value', value: new Uint8Array(), remainingMs: 1 });
    const refreshed = new SlowStore(TIMEOUT_MS + 1);
    expect([await check(leased), await check(stored), await check(refreshed, { way: 'refresh' })]).toEqual([1, 1, 1]);
    expect([...leased.released, ...stored.released, ...refreshed.released]).toEqual([]);
    expect(refreshed.asked.map(({ lease }) => typeof lease)).toEqual(['undefined', 'string']);
  });
});

describe('a store that answers in time', () => {
  it('keeps the lease until the answer of the service replaces it', async () => {
    const store = new SlowStore(TIMEOUT_MS - 1);
    expect(await check(store)).toBe(1);
    expect([store.asked.length, store.released]).toEqual([1, []]);
  });
});
