import { deepEqual, equal } from 'node:assert/strict';
import type { SessionStore, StoreEntry, StoreLease } from '../../contract/session-store.js';
import { aLease, BYTES, kindOf, LONG_MS, newKey, rule, SHORT_MS, until } from './rule.js';

const MANY = 20;

export const LEASE_RULES = [
  rule(
    'grants the lease to one of many concurrent look-ups, and returns its id to the others',
    async (one, other) => {
      const { winners, losers } = await lookUpConcurrently(newKey(), one, other);
      equal(winners.length, 1);
      deepEqual(losers, Array(MANY - 1).fill(winners[0]));
    },
  ),
  rule('releases a lease only by its own id, and never a value', async (one, other) => {
    const [key, lease] = [newKey(), aLease()];
    await one.get(key, lease);
    await other.releaseLease(key, lease.id.slice(0, -1));
    await other.releaseLease(key, aLease().id);
    equal(await kindOf(one, key), 'leased');
    await other.releaseLease(key, lease.id);
    equal(await kindOf(one, key), 'none');
    await one.set(key, BYTES, LONG_MS);
    await one.releaseLease(key, lease.id);
    equal(await kindOf(one, key), 'value');
  }),
  rule('ends a lease after its time, even while its holder is kept alive', async (one, other) => {
    const [key, lease] = [newKey(), aLease({ ttlMs: SHORT_MS })];
    await one.keepAlive(lease.holder, LONG_MS);
    await one.get(key, lease);
    await until(async () => (await kindOf(other, key)) === 'none');
  }),
  rule('keeps a lease during its grace period without a heartbeat of its holder', async (one, other) => {
    const [key, lease] = [newKey(), aLease()];
    await one.get(key, lease);
    deepEqual(idOf(await other.get(key, aLease())), lease.id);
  }),
  rule('keeps a lease after its grace period while its holder is kept alive', async (one, other) => {
    const [key, lease] = [newKey(), aLease({ graceMs: 0 })];
    await one.keepAlive(lease.holder, LONG_MS);
    await one.get(key, lease);
    equal(idOf(await other.get(key, aLease())), lease.id);
    await one.keepAlive(lease.holder, SHORT_MS);
    await until(async () => (await kindOf(other, key)) === 'none');
  }),
  rule('ends a lease after its grace period if its holder was never kept alive', async (one, other) => {
    const key = newKey();
    await one.get(key, aLease({ graceMs: SHORT_MS }));
    await until(async () => (await kindOf(other, key)) === 'none');
    equal((await other.get(key, aLease())).kind, 'none');
    equal(await kindOf(one, key), 'leased');
  }),
  rule('grants an ended lease to exactly one of many concurrent look-ups', async (one, other) => {
    const key = newKey();
    await one.get(key, aLease({ graceMs: 0 }));
    const { winners, losers } = await lookUpConcurrently(key, one, other);
    equal(winners.length, 1);
    deepEqual(losers, Array(MANY - 1).fill(winners[0]));
  }),
];

async function lookUpConcurrently(
  key: string,
  one: SessionStore,
  other: SessionStore,
): Promise<{ winners: string[]; losers: unknown[] }> {
  const leases = Array.from({ length: MANY }, () => aLease());
  const entries = await Promise.all(leases.map((lease, index) => (index % 2 ? one : other).get(key, lease)));
  const won = (_: StoreLease | StoreEntry, index: number): boolean => entries[index]?.kind === 'none';
  const losers = entries.filter((entry, index) => !won(entry, index));
  return { winners: leases.filter(won).map(({ id }) => id), losers: losers.map(idOf) };
}

function idOf(entry: StoreEntry): string | undefined {
  return entry.kind === 'leased' ? entry.lease : undefined;
}
