import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { StoreEntry } from '../contract/session-store.js';
import { sessionKeysOf } from '../contract/session-identity.js';
import { MemoryServer, MemoryStore } from '../../../../test/fleet/memory-store.js';
import { Fleet } from './fleet.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const TIMEOUT_MS = 50;
const ignore = (): undefined => undefined;
const NO_LISTENER = {
  receive: ignore,
  foundTombstone: ignore,
  messagesLost: ignore,
};
const SESSION = { token: 'token', authIv: undefined };

/** A store that keeps one value. Its replies take a while. */
class SlowStore extends MemoryStore {
  #value: { readonly value: Uint8Array; readonly remainingMs: number; readonly atMs: number } | undefined;

  constructor(private readonly delayMs: number) {
    super(new MemoryServer());
  }

  override async get(): Promise<StoreEntry> {
    const found = this.#value;
    const remainingMs = found && found.remainingMs - (performance.now() - found.atMs);
    await new Promise((resolve) => setTimeout(resolve, this.delayMs));
    return found && remainingMs !== undefined
      ? { kind: 'value', value: found.value, remainingMs, storeTimeMs: 1 }
      : { kind: 'none', storeTimeMs: 1 };
  }

  override set(_key: string, value: Uint8Array, remainingMs: number): Promise<boolean> {
    this.#value = { value, remainingMs, atMs: performance.now() };
    return Promise.resolve(true);
  }

  override subscribe(): () => Promise<void> {
    return () => Promise.resolve();
  }
}

interface Course {
  readonly times?: number;
  /** Called during each call to the service. */
  readonly onCall?: () => void;
  /** Called with the time of each answer that is compared with revocations. */
  readonly onCompare?: (confirmedAtMs: number) => void;
}

/** Checks a session several times, with a service that answers at once. Returns the number of calls. */
async function check(store: SlowStore, { times = 1, onCall, onCompare }: Course = {}): Promise<number> {
  const ages = {
    ttlMs: 60_000,
    tombstoneMs: 63_000,
    refreshAheadMs: 30_000,
  };
  const settings = {
    store,
    timeoutMs: TIMEOUT_MS,
    secrets: ['a secret of sixteen'],
    scope: 'scope',
    ...ages,
  } as const;
  const reports = {
    failed: ignore,
    answered: ignore,
    clockDiffers: ignore,
    busStateChanged: ignore,
    unreadable: ignore,
    lost: ignore,
  };
  const tier = new Fleet(settings, (json) => json, reports);
  tier.subscribe({
    ...NO_LISTENER,
    isRevokedSince: (_user, confirmedAtMs) => (onCompare?.(confirmedAtMs), false),
  });
  const call = jest.fn(
    () => (onCall?.(), Promise.resolve({ kind: 'authenticated', user: {}, json: {} } as const)),
  );
  for (let time = 0; time < times; time += 1) {
    const verdict = tier.check(SESSION, sessionKeysOf(SESSION), call, { startedAtMs: 0, isCurrent: true });
    await jest.advanceTimersByTimeAsync(5 * TIMEOUT_MS);
    await verdict;
  }
  await Promise.all([tier.close(), jest.advanceTimersByTimeAsync(0)]);
  return call.mock.calls.length;
}

describe('an answer from the store', () => {
  it('is never considered younger than it is, with slow look-ups and a wall clock that was set back', async () => {
    const confirmedAtMs: number[] = [];
    const startMs = performance.now();
    const store = new SlowStore(TIMEOUT_MS - 1);
    const onCompare = (atMs: number): void => {
      confirmedAtMs.push(atMs);
      jest.setSystemTime(Date.now() - 1_000);
    };
    expect(await check(store, { times: 3, onCompare })).toBe(1);
    const [sentAtMs = NaN, ...fromStore] = confirmedAtMs;
    expect(sentAtMs).toBe(startMs + TIMEOUT_MS - 1);
    expect(fromStore.map((atMs) => atMs <= sentAtMs)).toEqual([true, true]);
  });

  it.each([59_900, 3_600_000, -1])(
    'is not stored if the wall clock moves by %d ms during its call: the host was suspended, or its clock set [P33]',
    async (ms) => {
      const store = new SlowStore(1);
      const onCall = (): void => jest.setSystemTime(Date.now() + ms);
      expect(await check(store, { times: 2, onCall })).toBe(2);
    },
  );

  it('has the part of its lifetime left that has not passed during its call by either clock [P33]', async () => {
    const store = new SlowStore(1);
    const onCall = (): void => jest.setSystemTime(Date.now() + 59_000);
    expect(await check(store, { times: 2, onCall })).toBe(1);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await check(store)).toBe(1);
  });
});
