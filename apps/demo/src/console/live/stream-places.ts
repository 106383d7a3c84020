/** Counts open streams: so many in all, and so many for one address, so that one visitor cannot take every place. */
export class StreamPlaces {
  readonly #max: number;
  readonly #maxPerAddress: number;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(max: number, maxPerAddress: number) {
    this.#max = max;
    this.#maxPerAddress = maxPerAddress;
  }

  /** Takes a place and returns what gives it back, which may be called more than once; undefined when there is none. */
  take(address: string): (() => void) | undefined {
    const taken = this.#taken.get(address) ?? 0;
    if (this.#total >= this.#max || taken >= this.#maxPerAddress) return undefined;
    this.#total += 1;
    this.#taken.set(address, taken + 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#giveBack(address);
      isTaken = false;
    };
  }

  #giveBack(address: string): void {
    const left = (this.#taken.get(address) ?? 1) - 1;
    this.#total -= 1;
    if (left === 0) this.#taken.delete(address);
    else this.#taken.set(address, left);
  }
}
