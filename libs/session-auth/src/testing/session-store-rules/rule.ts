import { ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionStore, StoreEntry, StoreLease } from '../../contract/session-store.js';

/** What every `SessionStore` must do. */
export interface SessionStoreRule {
  /** A sentence, for the name of a test. */
  readonly name: string;
  /** Tests it on two instances that share one store. @throws AssertionError where they do otherwise */
  readonly check: (one: SessionStore, other: SessionStore) => Promise<void>;
}

/** Longer than a test. */
export const LONG_MS = 60_000;
/** Over soon. */
export const SHORT_MS = 20;
const PATIENCE_MS = 5_000;
/** Every byte. */
export const BYTES = Uint8Array.from({ length: 256 }, (_, byte) => byte);

/** Returns a rule. */
export function rule(name: string, check: SessionStoreRule['check']): SessionStoreRule {
  return { name, check };
}

/** Returns a key that no other test has. */
export function newKey(): string {
  return `key-${randomUUID()}`;
}

/** Returns a lease of a new holder that counts for a long time. */
export function aLease(terms: Partial<StoreLease> = {}): StoreLease {
  return { id: `id.${randomUUID()}`, holder: `holder_${randomUUID()}`, ttlMs: LONG_MS, graceMs: LONG_MS, ...terms };
}

/** Returns the kind of an entry, and takes no lease. */
export async function kindOf(store: SessionStore, key: string): Promise<StoreEntry['kind']> {
  return (await store.get(key)).kind;
}

/** @throws AssertionError unless the time is the longest one, or shorter by what a test may take */
export function isWithin(ms: number, longestMs: number): void {
  ok(ms > longestMs - PATIENCE_MS && ms <= longestMs, `${ms} ms are not about ${longestMs} ms`);
}

/** Waits. @throws AssertionError if it takes longer than a store may */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    ok(performance.now() < end, `did not happen within ${PATIENCE_MS} ms`);
    await delay(5);
  }
}
