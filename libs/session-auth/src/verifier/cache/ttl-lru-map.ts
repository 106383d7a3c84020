import { LRUCache } from 'lru-cache';

/** Bounds of a {@link TtlLruMap}. */
export interface TtlLruMapLimits {
  readonly maxEntries: number;
  /** Milliseconds until an entry lapses. */
  readonly ttlMs: number;
}

/** lru-cache takes an entry for good at the age of its ttl, and a start at 0 for none. Odd halves of a millisecond know neither case. */
const TICKS_PER_MS = 2;

/**
 * Entries that lapse on a monotonic clock; where there are too many, the least recently used goes first.
 * It takes no room before its first entry.
 */
export class TtlLruMap<Key extends string, Value extends object | string | number | true> {
  readonly #build: () => LRUCache<Key, Value>;
  readonly #ttl: number;
  readonly #perf: { now(): number };
  #entries: LRUCache<Key, Value> | undefined;

  constructor({ maxEntries, ttlMs: lifetimeMs }: TtlLruMapLimits, now: () => number) {
    this.#ttl = Math.max(1, Math.floor(lifetimeMs) * TICKS_PER_MS - 1);
    this.#perf = { now: () => Math.floor(now()) * TICKS_PER_MS + 1 };
    const limits = { max: maxEntries, ttl: this.#ttl, ttlResolution: 0, noDeleteOnStaleGet: true, perf: this.#perf };
    this.#build = () => new LRUCache(limits);
  }

  /** An entry that has not lapsed; it counts as used. */
  get(key: Key): Value | undefined {
    return this.#entries?.get(key);
  }

  /** An entry, lapsed or not. */
  peek(key: Key): Value | undefined {
    return this.#entries?.peek(key, { allowStale: true });
  }

  /** How many entries have not lapsed and are of a kind. It looks at each: not for every request. */
  count(isOfKind: (key: Key, value: Value) => boolean = () => true): number {
    return this.#entries ? [...this.#entries.entries()].filter(([key, value]) => isOfKind(key, value)).length : 0;
  }

  /** Whether an entry, which there is, was set less than so many milliseconds ago. */
  isYoungerThan(key: Key, ageMs: number): boolean {
    if (ageMs === Infinity) return true;
    return this.#ttl - (this.#entries?.getRemainingTTL(key) ?? 0) < ageMs * TICKS_PER_MS;
  }

  /** When an entry, which there is, was set, less its age then: whole milliseconds, rounded down. */
  setAtMs(key: Key): number {
    return Math.floor(this.#perf.now() / TICKS_PER_MS - (this.#ttl - (this.#entries?.getRemainingTTL(key) ?? 0)) / TICKS_PER_MS);
  }

  /** Sets an entry that is so many milliseconds old already. */
  set(key: Key, value: Value, ageMs = 0): void {
    this.#entries ??= this.#build();
    if (ageMs === 0) this.#entries.set(key, value);
    else this.#entries.set(key, value, { start: this.#perf.now() - Math.ceil(ageMs) * TICKS_PER_MS });
  }

  delete(key: Key): void {
    this.#entries?.delete(key);
  }

  clear(): void {
    this.#entries?.clear();
  }
}
