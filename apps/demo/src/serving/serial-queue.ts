/** Runs tasks one after the other, in order. A task that fails does not stop the following ones. */
export class SerialQueue {
  #last: Promise<void> = Promise.resolve();

  /** Runs a task in its turn. Settles as the task does. */
  run(task: () => Promise<void>): Promise<void> {
    const done = this.#last.then(task);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Resolves when all tasks so far have settled. */
  settled(): Promise<void> {
    return this.#last;
  }
}
