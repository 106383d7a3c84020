import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { SessionStore, StoreEntry, StoreSubscriber } from 'nestjs-session-auth/store';
import { until } from './until.js';

interface SessionStoreRule {
  /** The requirement as a sentence, for the name of a test. */
  readonly name: string;
  /** Tests the rule on two instances that share one store. @throws AssertionError if they break it */
  readonly check: (one: SessionStore, other: SessionStore) => Promise<void>;
}

/** Milliseconds that are longer than a test. */
const LONG_MS = 60_000;
/** Milliseconds that pass during a test. */
const SHORT_MS = 20;
const MAX_WAIT_MS = 5_000;
const BYTES = Uint8Array.from({ length: 256 }, (_, byte) => byte);

function rule(name: string, check: SessionStoreRule['check']): SessionStoreRule {
  return { name, check };
}

/** The rules of every `SessionStore`: each `check` takes two stores on the same data. */
export const SESSION_STORE_RULES: readonly SessionStoreRule[] = [
  rule('has no entry for a new key, and a look-up sets none', async (one, other) => {
    const key = newKey();
    equal(await kindOf(one, key), 'none');
    equal(await kindOf(other, key), 'none');
  }),
  rule('sets any bytes, for ttlMs milliseconds', async (one, other) => {
    const key = newKey();
    equal(await one.set(key, BYTES, LONG_MS), true);
    const entry = await other.get(key);
    deepEqual(entry.kind === 'value' && [...entry.value], [...BYTES]);
    const leftMs = entry.kind === 'value' ? entry.remainingMs : NaN;
    ok(leftMs > LONG_MS - MAX_WAIT_MS && leftMs <= LONG_MS, `${leftMs} ms is not close to ${LONG_MS} ms`);
    equal(await other.set(key, BYTES.subarray(1), SHORT_MS), true);
    await until('it expires', async () => (await kindOf(one, key)) === 'none');
  }),
  rule('deletes a value, and returns whether there was one', async (one, other) => {
    const key = newKey();
    equal(await one.delete(key), false);
    await one.set(key, BYTES, LONG_MS);
    equal(await other.delete(key), true);
    equal(await kindOf(one, key), 'none');
  }),
  rule(
    'sets nothing over a tombstone, and deletes none, whether or not it replaced a value',
    async (one, other) => {
      const key = newKey();
      await leavesTombstone(newKey(), one, other);
      await other.set(key, BYTES, LONG_MS);
      await leavesTombstone(key, one, other);
    },
  ),
  rule('lets a tombstone expire, and clears it', async (one, other) => {
    const [short, long] = [newKey(), newKey()];
    await one.setTombstone(short, SHORT_MS);
    await until('it expires', async () => (await kindOf(other, short)) === 'none');
    await one.setTombstone(long, LONG_MS);
    await other.clearTombstone(long);
    equal(await kindOf(one, long), 'none');
    equal(await one.set(long, BYTES, LONG_MS), true);
  }),
  rule(
    'records a revocation no earlier than every look-up before it, and no later than every look-up after it',
    async (one, other) => {
      const [key, ...keys] = Array.from({ length: 9 }, newKey) as [string, ...string[]];
      const before = await lookUpAll(other, keys);
      await one.setRevocation(key, LONG_MS);
      const after = await lookUpAll(other, keys);
      const revokedMs = (await other.getRevocations([key]))[0] ?? NaN;
      ok(
        revokedMs >= Math.max(...before),
        'a session that was looked up before counts as newer than the revocation',
      );
      ok(
        revokedMs <= Math.min(...after),
        'a session that was looked up afterwards counts as older than the revocation',
      );
    },
  ),
  rule(
    'returns the revocations in the order of their keys, and undefined for a key without one',
    async (one, other) => {
      const [first, second] = [newKey(), newKey()];
      await one.setRevocation(first, LONG_MS);
      await other.setRevocation(second, LONG_MS);
      const [secondMs, none, firstMs] = await one.getRevocations([second, newKey(), first]);
      equal(none, undefined);
      ok(
        Number.isSafeInteger(firstMs) &&
          Number.isSafeInteger(secondMs) &&
          (firstMs ?? NaN) <= (secondMs ?? NaN),
      );
      deepEqual(await one.getRevocations([]), []);
    },
  ),
  rule('lets a revocation expire, and records the later of two', async (one, other) => {
    const [short, again] = [newKey(), newKey()];
    await one.setRevocation(short, SHORT_MS);
    await until('it expires', async () => (await other.getRevocations([short]))[0] === undefined);
    await one.setRevocation(again, SHORT_MS);
    await one.setRevocation(again, LONG_MS);
    const lookedUpMs = (await other.get(newKey())).storeTimeMs;
    await until('the clock has moved', async () => (await other.get(newKey())).storeTimeMs > lookedUpMs);
    await other.setRevocation(again, LONG_MS);
    ok(((await one.getRevocations([again]))[0] ?? NaN) > lookedUpMs);
  }),
  rule('keeps revocations apart from the entries of the same key', async (one, other) => {
    const key = newKey();
    await one.set(key, BYTES, LONG_MS);
    await one.setRevocation(key, LONG_MS);
    equal((await other.get(key)).kind, 'value');
    await other.setTombstone(key, LONG_MS);
    equal((await other.get(key)).kind, 'tombstone');
    equal((await one.getRevocations([key])).includes(undefined), false);
  }),
  rule(
    'delivers a message to every subscribed instance, and to none that unsubscribed',
    async (one, other) => {
      const [first, second] = [new Inbox(), new Inbox()];
      const stops = [one.subscribe(first), other.subscribe(second)] as const;
      try {
        await until('both listen', () => first.isSubscribed && second.isSubscribed);
        await one.publish(BYTES);
        await until('a message arrives', () => first.messages.length > 0 && second.messages.length > 0);
        deepEqual([first.messages, second.messages], [[[...BYTES]], [[...BYTES]]]);
        await stops[1]();
        await other.publish(BYTES.subarray(1));
        await until('a message arrives', () => first.messages.length === 2);
        equal(second.messages.length, 1);
      } finally {
        await Promise.all(stops.map((stop) => stop()));
      }
    },
  ),
  rule('calls subscribed before the first message', async (one, other) => {
    const inbox = new Inbox();
    const stop = one.subscribe(inbox);
    try {
      await until('a message arrives', async () => {
        await other.publish(BYTES);
        return inbox.messages.length > 0;
      });
      equal(inbox.isEarly, false);
    } finally {
      await stop();
    }
  }),
];

class Inbox implements StoreSubscriber {
  readonly messages: number[][] = [];
  isSubscribed = false;
  /** Whether a message arrived while the inbox was not subscribed. */
  isEarly = false;

  message(bytes: Uint8Array): void {
    this.isEarly ||= !this.isSubscribed;
    this.messages.push([...bytes]);
  }

  subscribed(): void {
    this.isSubscribed = true;
  }

  interrupted(): void {
    this.isSubscribed = false;
  }
}

/** Returns the times of look-ups of each kind, of keys that may be on different servers. */
async function lookUpAll(
  store: SessionStore,
  [tombstone = '', value = '', ...keys]: string[],
): Promise<number[]> {
  await store.setTombstone(tombstone, LONG_MS);
  await store.set(value, BYTES, LONG_MS);
  const entries = await Promise.all([tombstone, value, ...keys].map((key) => store.get(key)));
  return entries.map(({ storeTimeMs }) => storeTimeMs);
}

async function leavesTombstone(key: string, one: SessionStore, other: SessionStore): Promise<void> {
  await one.setTombstone(key, LONG_MS);
  equal(await other.set(key, BYTES, LONG_MS), false);
  equal(await other.delete(key), false);
  equal(await kindOf(other, key), 'tombstone');
}

function newKey(): string {
  return `key-${randomUUID()}`;
}

async function kindOf(store: SessionStore, key: string): Promise<StoreEntry['kind']> {
  return (await store.get(key)).kind;
}
