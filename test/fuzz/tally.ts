import type { Expected, Outcome } from './wire-case.js';

/** The outcomes of the cases so far. */
export class Tally {
  readonly outcomes: Record<Outcome, number> = { allow: 0, unauthenticated: 0, forbidden: 0, unavailable: 0 };
  cases = 0;
  /** Cases of which the rules permit one outcome only. */
  exact = 0;
  askedAgain = 0;

  count(outcome: string, { permitted }: Expected): void {
    this.cases += 1;
    if (permitted.length === 1) this.exact += 1;
    if (outcome in this.outcomes) this.outcomes[outcome as Outcome] += 1;
  }

  toString(): string {
    const shown = Object.entries(this.outcomes).map(([outcome, times]) => `${times} ${outcome}`);
    return `${this.cases} cases, of them ${shown.join(', ')}; ${this.exact} with one right outcome, ${this.askedAgain} asked again`;
  }

  share(outcome: Outcome): number {
    return this.outcomes[outcome] / this.cases;
  }
}
