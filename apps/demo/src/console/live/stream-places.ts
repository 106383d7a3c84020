/** Limits open streams, in total and per address, so that one client can't take every place. */
export class StreamPlaces {
  readonly #max: number;
  readonly #maxPerAddress: number;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(max: number, maxPerAddress: number) {
    this.#max = max;
    this.#maxPerAddress = maxPerAddress;
  }

  /**
   * Takes a place. Returns a function that gives it back, which can be called repeatedly, or undefined if no
   * place is free.
   */
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
