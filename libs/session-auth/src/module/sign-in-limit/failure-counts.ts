/** Bounds of {@link FailureCounts}. */
export interface FailureLimits {
  /** Failures of one key within the window. */
  readonly failures: number;
  readonly windowMs: number;
  readonly maxKeys: number;
}

/** Milliseconds to wait where only attempts in flight fill the limit: they may still succeed. */
const WAIT_FOR_ATTEMPTS_MS = 1;

/**
 * Counts failures by key in a sliding window: a failure counts for `windowMs`. An attempt is reserved before its outcome is known, so that concurrent
 * attempts can't exceed the limit. A full table evicts a key with the fewest failures, so that an attacker must fill the
 * table with failures of other keys to reset one count.
 */
export class FailureCounts {
  readonly #limits: FailureLimits;
  readonly #now: () => number;
  /** Times of the failures of each key, oldest first. The key that failed longest ago comes first. */
  readonly #times = new Map<string, readonly number[]>();
  /** The keys by their number of failures at the time of the latest. */
  readonly #byCount: (Set<string> | undefined)[] = [];
  /** Attempts in flight of each key. */
  readonly #reserved = new Map<string, number>();

  constructor(limits: FailureLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Number of keys with failures, and of keys with attempts in flight. */
  get size(): number {
    return this.#times.size + this.#reserved.size;
  }

  /** Returns the milliseconds until an attempt is within the limit; 0 if it is now. */
  waitMs(key: string): number {
    const times = this.#timesOf(key);
    const room = this.#limits.failures - times.length;
    if (room <= 0) return (times[0] ?? 0) + this.#limits.windowMs - this.#now();
    return (this.#reserved.get(key) ?? 0) < room ? 0 : WAIT_FOR_ATTEMPTS_MS;
  }

  /** Counts an attempt until {@link release}. */
  reserve(key: string): void {
    this.#reserved.set(key, (this.#reserved.get(key) ?? 0) + 1);
  }

  /** Ends an attempt. */
  release(key: string): void {
    const left = (this.#reserved.get(key) ?? 0) - 1;
    if (left > 0) this.#reserved.set(key, left);
    else this.#reserved.delete(key);
  }

  /** Counts a failure. */
  add(key: string): void {
    const times = [...this.#timesOf(key), this.#now()];
    this.clear(key);
    this.#makeRoom();
    this.#times.set(key, times);
    (this.#byCount[times.length] ??= new Set()).add(key);
  }

  /** Removes the failures of a key. Attempts in flight stay reserved. */
  clear(key: string): void {
    const times = this.#times.get(key);
    if (!times) return;
    this.#times.delete(key);
    this.#byCount[times.length]?.delete(key);
  }

  /** Removes all failures. */
  clearAll(): void {
    this.#times.clear();
    this.#byCount.length = 0;
  }

  #timesOf(key: string): readonly number[] {
    const sinceMs = this.#now() - this.#limits.windowMs;
    return this.#times.get(key)?.filter((time) => time > sinceMs) ?? [];
  }

  /** Removes the keys whose failures no longer count; if the table is still full, one with the fewest failures, that failed longest ago. */
  #makeRoom(): void {
    const sinceMs = this.#now() - this.#limits.windowMs;
    for (const [key, times] of this.#times) {
      if ((times.at(-1) ?? 0) > sinceMs) break;
      this.clear(key);
    }
    if (this.#times.size < this.#limits.maxKeys) return;
    const [oldest] = this.#byCount.find((keys) => keys !== undefined && keys.size > 0) ?? [];
    if (oldest !== undefined) this.clear(oldest);
  }
}
