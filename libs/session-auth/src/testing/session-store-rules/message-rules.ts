import { deepEqual, equal, ok } from 'node:assert/strict';
import type { SessionStore, StoreSubscriber } from '../../contract/session-store.js';
import { aLease, BYTES, LONG_MS, newKey, rule, SHORT_MS, until } from './rule.js';

export const MESSAGE_RULES = [
  rule(
    'delivers a message to every subscribed instance, and to none that unsubscribed',
    async (one, other) => {
      const [first, second] = [new Inbox(), new Inbox()];
      const stops = [one.subscribe(first), other.subscribe(second)] as const;
      try {
        await until(() => first.isSubscribed && second.isSubscribed);
        await one.publish(BYTES);
        await until(() => first.messages.length > 0 && second.messages.length > 0);
        deepEqual([first.messages, second.messages], [[[...BYTES]], [[...BYTES]]]);
        await stops[1]();
        await other.publish(BYTES.subarray(1));
        await until(() => first.messages.length === 2);
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
      await until(async () => {
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

export const REVOCATION_RULES = [
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
    await until(async () => (await other.getRevocations([short]))[0] === undefined);
    await one.setRevocation(again, SHORT_MS);
    await one.setRevocation(again, LONG_MS);
    const lookedUpMs = (await other.get(newKey())).storeTimeMs;
    await until(async () => (await other.get(newKey())).storeTimeMs > lookedUpMs);
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
];

/** Returns the times of look-ups of each kind, of keys that may be on different servers. */
async function lookUpAll(
  store: SessionStore,
  [tombstone = '', value = '', ...keys]: string[],
): Promise<number[]> {
  await store.setTombstone(tombstone, LONG_MS);
  await store.set(value, BYTES, LONG_MS);
  const entries = await Promise.all([tombstone, value, ...keys].map((key) => store.get(key, aLease())));
  return entries.map(({ storeTimeMs }) => storeTimeMs);
}
