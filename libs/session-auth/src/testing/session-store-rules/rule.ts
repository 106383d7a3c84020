import { ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionStore, StoreEntry, StoreLease } from '../../contract/session-store.js';

/** A requirement of every `SessionStore`. */
export interface SessionStoreRule {
  /** The requirement as a sentence, for the name of a test. */
  readonly name: string;
  /** Tests the rule on two instances that share one store. @throws AssertionError if they break it */
  readonly check: (one: SessionStore, other: SessionStore) => Promise<void>;
}

/** Milliseconds that are longer than a test. */
export const LONG_MS = 60_000;
/** Milliseconds that pass during a test. */
export const SHORT_MS = 20;
const MAX_WAIT_MS = 5_000;
export const BYTES = Uint8Array.from({ length: 256 }, (_, byte) => byte);

export function rule(name: string, check: SessionStoreRule['check']): SessionStoreRule {
  return { name, check };
}

/** Returns a key that no other test has. */
export function newKey(): string {
  return `key-${randomUUID()}`;
}

/** Returns a lease of a new holder that is valid for {@link LONG_MS}. */
export function aLease(terms: Partial<StoreLease> = {}): StoreLease {
  return {
    id: `id.${randomUUID()}`,
    holder: `holder_${randomUUID()}`,
    ttlMs: LONG_MS,
    graceMs: LONG_MS,
    ...terms,
  };
}

/** Returns the kind of an entry, and takes no lease. */
export async function kindOf(store: SessionStore, key: string): Promise<StoreEntry['kind']> {
  return (await store.get(key)).kind;
}

/** @throws AssertionError unless `ms` is at most `longestMs`, and shorter by no more than a test may take */
export function isWithin(ms: number, longestMs: number): void {
  ok(ms > longestMs - MAX_WAIT_MS && ms <= longestMs, `${ms} ms is not close to ${longestMs} ms`);
}

/** Waits until a condition holds. @throws AssertionError if that takes longer than a store may take */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + MAX_WAIT_MS;
  while (!(await holds())) {
    ok(performance.now() < end, `did not happen within ${MAX_WAIT_MS} ms`);
    await delay(5);
  }
}
