/** What each first attempt adds: retries stay below a tenth of them, so that an outage is not met with twice the load. */
const EARNED_BY_AN_ATTEMPT = 0.08;
/** Retries that are there from the start, and at most saved up. */
const MAX_SAVED = 10;

/** Bounds retries by the number of first attempts. */
export class RetryBudget {
  #saved = MAX_SAVED;

  /** A first attempt is made. */
  earn(): void {
    this.#saved = Math.min(MAX_SAVED, this.#saved + EARNED_BY_AN_ATTEMPT);
  }

  /** Takes one retry, if there is one. */
  spend(): boolean {
    if (this.#saved < 1) return false;
    this.#saved -= 1;
    return true;
  }
}
