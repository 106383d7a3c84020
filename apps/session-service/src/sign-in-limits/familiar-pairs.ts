/** The pairs of account and caller that have signed in, the latest ones. Bounded: the one that signed in longest ago is evicted. */
export class FamiliarPairs {
  private readonly pairs = new Set<string>();

  /** @param maxEntries - pairs that are kept */
  constructor(private readonly maxEntries: number) {}

  get size(): number {
    return this.pairs.size;
  }

  has(pair: string): boolean {
    return this.pairs.has(pair);
  }

  add(pair: string): void {
    this.pairs.delete(pair);
    this.pairs.add(pair);
    for (const oldest of this.pairs) {
      if (this.pairs.size <= this.maxEntries) break;
      this.pairs.delete(oldest);
    }
  }
}
