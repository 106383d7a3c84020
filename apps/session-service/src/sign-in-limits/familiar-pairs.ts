/**
 * Holds the latest pairs of account and caller that have signed in. Bounded: the pair that signed in longest
 * ago is evicted.
 */
export class FamiliarPairs {
  private readonly pairs = new Set<string>();

  /** @param maxEntries - number of pairs */
  constructor(private readonly maxEntries: number) {}

  /** Number of pairs. */
  get size(): number {
    return this.pairs.size;
  }

  /** Returns whether the pair has signed in. */
  has(pair: string): boolean {
    return this.pairs.has(pair);
  }

  /** Adds a pair, or makes it the latest. */
  add(pair: string): void {
    this.pairs.delete(pair);
    this.pairs.add(pair);
    for (const oldest of this.pairs) {
      if (this.pairs.size <= this.maxEntries) break;
      this.pairs.delete(oldest);
    }
  }
}
