/** The options of lru-cache that the library uses. */
interface Options {
  readonly max: number;
  readonly ttl: number;
  readonly perf: { now(): number };
}

interface Entry<Value> {
  readonly value: Value;
  readonly start: number;
}

/** The part of lru-cache that the library uses, without preallocated memory: a history has few entries. */
export class LRUCache<Key, Value> {
  readonly #options: Options;
  /** The least recently used first. */
  readonly #entries = new Map<Key, Entry<Value>>();

  constructor(options: Options) {
    this.#options = options;
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry || this.#isStale(entry)) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  peek(key: Key, { allowStale = false } = {}): Value | undefined {
    const entry = this.#entries.get(key);
    return entry && (allowStale || !this.#isStale(entry)) ? entry.value : undefined;
  }

  set(key: Key, value: Value, { start = this.#options.perf.now() } = {}): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, start });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#options.max && oldest !== undefined) this.#entries.delete(oldest);
  }

  delete(key: Key): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Entries that are not stale, the most recently used first. */
  *entries(): Generator<[Key, Value]> {
    for (const [key, entry] of [...this.#entries].reverse())
      if (!this.#isStale(entry)) yield [key, entry.value];
  }

  getRemainingTTL(key: Key): number {
    const entry = this.#entries.get(key);
    return entry ? this.#options.ttl - (this.#options.perf.now() - entry.start) : 0;
  }

  #isStale({ start }: Entry<Value>): boolean {
    return this.#options.perf.now() - start > this.#options.ttl;
  }
}
