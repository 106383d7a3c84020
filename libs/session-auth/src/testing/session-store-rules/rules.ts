import { deepEqual, equal } from 'node:assert/strict';
import type { SessionStore } from '../../contract/session-store.js';
import { LEASE_RULES } from './lease-rules.js';
import { MESSAGE_RULES, REVOCATION_RULES } from './message-rules.js';
import {
  aLease,
  BYTES,
  isWithin,
  kindOf,
  LONG_MS,
  newKey,
  rule,
  SHORT_MS,
  until,
  type SessionStoreRule,
} from './rule.js';

export type { SessionStoreRule } from './rule.js';

const ENTRY_RULES = [
  rule('has no entry for a new key, and takes no lease unless one is passed', async (one, other) => {
    const key = newKey();
    equal(await kindOf(one, key), 'none');
    equal(await kindOf(other, key), 'none');
    equal((await other.get(key, aLease())).kind, 'none');
  }),
  rule('sets any bytes over a lease, for ttlMs milliseconds', async (one, other) => {
    const key = newKey();
    await one.get(key, aLease());
    equal(await one.set(key, BYTES, LONG_MS), true);
    const entry = await other.get(key, aLease());
    deepEqual(entry.kind === 'value' && [...entry.value], [...BYTES]);
    isWithin(entry.kind === 'value' ? entry.remainingMs : NaN, LONG_MS);
    equal(await other.set(key, BYTES.subarray(1), SHORT_MS), true);
    await until(async () => (await kindOf(one, key)) === 'none');
  }),
  rule('deletes a value or a lease, and returns whether there was a value', async (one, other) => {
    const key = newKey();
    equal(await one.delete(key), false);
    await one.get(key, aLease());
    equal(await other.delete(key), false);
    await one.set(key, BYTES, LONG_MS);
    equal(await other.delete(key), true);
    equal(await kindOf(one, key), 'none');
  }),
  rule('sets nothing over a tombstone, regardless of the entry before it', async (one, other) => {
    await Promise.all(['nothing', 'lease', 'value'].map((before) => leavesTombstone(one, other, before)));
  }),
  rule('lets a tombstone expire, and clears it', async (one, other) => {
    const [short, long] = [newKey(), newKey()];
    await one.setTombstone(short, SHORT_MS);
    await until(async () => (await kindOf(other, short)) === 'none');
    await one.setTombstone(long, LONG_MS);
    await other.clearTombstone(long);
    equal(await kindOf(one, long), 'none');
    equal(await one.set(long, BYTES, LONG_MS), true);
  }),
];

/**
 * The rules of a `SessionStore`, to test your own implementation:
 *
 * ```ts
 * import { SESSION_STORE_RULES } from 'nestjs-session-auth/testing';
 *
 * it.each(SESSION_STORE_RULES)('$name', ({ check }) => check(new MyStore(server), new MyStore(server)));
 * ```
 */
export const SESSION_STORE_RULES: readonly SessionStoreRule[] = [
  ...ENTRY_RULES,
  ...LEASE_RULES,
  ...REVOCATION_RULES,
  ...MESSAGE_RULES,
];

async function leavesTombstone(one: SessionStore, other: SessionStore, before: string): Promise<void> {
  const [key, lease] = [newKey(), aLease()];
  if (before === 'lease') await other.get(key, lease);
  if (before === 'value') await other.set(key, BYTES, LONG_MS);
  await one.setTombstone(key, LONG_MS);
  equal(await other.set(key, BYTES, LONG_MS), false);
  equal(await other.delete(key), false);
  await other.releaseLease(key, lease.id);
  equal((await other.get(key, aLease())).kind, 'tombstone');
}
