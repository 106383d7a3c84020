import { LRUCache } from 'lru-cache';

interface TtlLruMapLimits {
  readonly maxEntries: number;
  /** Milliseconds until an entry expires. */
  readonly ttlMs: number;
}

/**
 * lru-cache considers an entry valid at the age of its ttl, and a start of 0 as absent. Odd counts of half
 * milliseconds avoid both cases.
 */
const TICKS_PER_MS = 2;

/** A map with a size bound and a lifetime by a monotonic clock. It allocates nothing before its first entry. */
export class TtlLruMap<Key extends string, Value extends object | string | true> {
  readonly #build: () => LRUCache<Key, Value>;
  readonly #ttl: number;
  readonly #perf: { now(): number };
  #entries: LRUCache<Key, Value> | undefined;

  /** `clock`: by default `performance`, as it is when it is read. */
  constructor({ maxEntries, ttlMs }: TtlLruMapLimits, clock?: { now(): number }) {
    this.#ttl = Math.max(1, Math.floor(ttlMs) * TICKS_PER_MS - 1);
    this.#perf = { now: () => Math.floor((clock ?? performance).now()) * TICKS_PER_MS + 1 };
    const limits = {
      max: maxEntries,
      ttl: this.#ttl,
      ttlResolution: 0,
      noDeleteOnStaleGet: true,
      perf: this.#perf,
    };
    this.#build = () => new LRUCache(limits);
  }

  get(key: Key): Value | undefined {
    return this.#entries?.get(key);
  }

  /** Returns an entry, expired or not, and does not mark it as used. */
  peek(key: Key): Value | undefined {
    return this.#entries?.peek(key, { allowStale: true });
  }

  count(matches: (key: Key, value: Value) => boolean = () => true): number {
    return this.#entries
      ? [...this.#entries.entries()].filter(([key, value]) => matches(key, value)).length
      : 0;
  }

  /** Returns when the lifetime of an entry began, in whole milliseconds. The entry must exist. */
  startMs(key: Key): number {
    return Math.floor(
      this.#perf.now() / TICKS_PER_MS -
        (this.#ttl - (this.#entries?.getRemainingTTL(key) ?? 0)) / TICKS_PER_MS,
    );
  }

  /** Sets an entry, whose lifetime begins at `startMs`: a time of the clock, by default now. */
  set(key: Key, value: Value, startMs?: number): void {
    this.#entries ??= this.#build();
    if (startMs === undefined) this.#entries.set(key, value);
    else this.#entries.set(key, value, { start: Math.floor(startMs) * TICKS_PER_MS + 1 });
  }

  delete(key: Key): void {
    this.#entries?.delete(key);
  }

  clear(): void {
    this.#entries?.clear();
  }
}
