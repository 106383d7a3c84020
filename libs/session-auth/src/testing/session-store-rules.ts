import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionStore, StoredSession } from '../contract/session-store.js';

/** What every {@link SessionStore} must do. */
export interface SessionStoreRule {
  /** A sentence, for the name of a test. */
  readonly name: string;
  /** Tries it on two instances that share one memory. @throws AssertionError where they do otherwise */
  readonly check: (one: SessionStore, other: SessionStore) => Promise<void>;
}

const LONG_MS = 60_000;
const SHORT_MS = 20;
const PATIENCE_MS = 5_000;
const VALUE = Uint8Array.from({ length: 256 }, (_, byte) => byte);
const newKey = (): string => `key-${randomUUID()}`;

/**
 * The rules of a store, to be tried on one of your own:
 *
 * ```ts
 * import { SESSION_STORE_RULES } from 'nestjs-session-auth/testing';
 *
 * it.each(SESSION_STORE_RULES)('$name', ({ check }) => check(new MyStore(server), new MyStore(server)));
 * ```
 */
export const SESSION_STORE_RULES: readonly SessionStoreRule[] = [
  rule('has nothing under a key that nobody used, and claims nothing unless it is asked to', async (one, other) => {
    const key = newKey();
    equal((await one.take(key, 0)).state, 'free');
    equal((await other.take(key, 0)).state, 'free');
  }),
  rule('gives a claim to one of many that ask at once', async (one, other) => {
    const key = newKey();
    const states = await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 ? one : other).take(key, LONG_MS)));
    equal(states.filter(({ state }) => state === 'free').length, 1);
    equal(states.filter(({ state }) => state === 'claimed').length, 19);
  }),
  rule('lets a claim lapse, and gives it up early when it is released', async (one, other) => {
    const [short, long] = [newKey(), newKey()];
    await one.take(short, SHORT_MS);
    await until(async () => (await other.take(short, 0)).state === 'free');
    await one.take(long, LONG_MS);
    await one.release(long);
    equal((await other.take(long, 0)).state, 'free');
  }),
  rule('keeps any bytes over a claim, for as long as it is told', async (one, other) => {
    const key = newKey();
    await one.take(key, LONG_MS);
    equal(await one.keep(key, VALUE, LONG_MS), true);
    const stored = await other.take(key, LONG_MS);
    deepEqual(bytesOf(stored), [...VALUE]);
    ok(stored.state === 'kept' && stored.remainingMs > LONG_MS - PATIENCE_MS && stored.remainingMs <= LONG_MS);
    equal(await other.keep(key, VALUE.subarray(1), SHORT_MS), true);
    await until(async () => (await one.take(key, 0)).state === 'free');
  }),
  rule('releases no value, and drops one', async (one, other) => {
    const key = newKey();
    await one.keep(key, VALUE, LONG_MS);
    await other.release(key);
    equal((await one.take(key, 0)).state, 'kept');
    await other.drop(key);
    equal((await one.take(key, 0)).state, 'free');
  }),
  rule('keeps nothing where a session was ended, whatever was there', async (one, other) => {
    for (const before of ['nothing', 'claim', 'value']) {
      const key = newKey();
      if (before === 'claim') await other.take(key, LONG_MS);
      if (before === 'value') await other.keep(key, VALUE, LONG_MS);
      await one.end(key, LONG_MS);
      equal(await other.keep(key, VALUE, LONG_MS), false);
      await other.drop(key);
      await other.release(key);
      equal((await other.take(key, LONG_MS)).state, 'ended');
    }
  }),
  rule('lets the mark of an end lapse, and takes it back for a pardon', async (one, other) => {
    const [short, long] = [newKey(), newKey()];
    await one.end(short, SHORT_MS);
    await until(async () => (await other.take(short, 0)).state === 'free');
    await one.end(long, LONG_MS);
    await other.pardon(long);
    equal(await one.keep(long, VALUE, LONG_MS), true);
  }),
  rule('brings a message to every instance that listens, and to none that stopped', async (one, other) => {
    const [first, second] = [ears(), ears()];
    const stops = [one.listen(first), other.listen(second)] as const;
    try {
      await until(() => Promise.resolve(first.connected && second.connected));
      await one.announce(VALUE);
      await until(() => Promise.resolve(first.heardBytes.length > 0 && second.heardBytes.length > 0));
      deepEqual([first.heardBytes, second.heardBytes], [[[...VALUE]], [[...VALUE]]]);
      await stops[1]();
      await other.announce(VALUE.subarray(1));
      await until(() => Promise.resolve(first.heardBytes.length === 2));
      equal(second.heardBytes.length, 1);
    } finally {
      await Promise.all(stops.map((stop) => stop()));
    }
  }),
];

function rule(name: string, check: SessionStoreRule['check']): SessionStoreRule {
  return { name, check };
}

function ears() {
  const heardBytes: number[][] = [];
  return {
    heardBytes,
    connected: false,
    heard: (message: Uint8Array) => void heardBytes.push([...message]),
    reconnected() {
      this.connected = true;
    },
  };
}

function bytesOf(stored: StoredSession): number[] | undefined {
  return stored.state === 'kept' ? [...stored.value] : undefined;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    ok(performance.now() < end, `did not come within ${PATIENCE_MS} ms`);
    await delay(5);
  }
}
