/** Does one thing after the other, in the order in which they were asked for; what fails keeps none of the next from its turn. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Settles as the work does. */
  take(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Resolves when everything that was asked for so far is done. */
  over(): Promise<void> {
    return this.#last;
  }
}
