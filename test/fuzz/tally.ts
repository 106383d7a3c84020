import type { Expected, Outcome } from './wire-case.js';

/** What came of the cases so far. */
export class Tally {
  readonly told: Record<Outcome, number> = { allow: 0, unauthenticated: 0, forbidden: 0, unavailable: 0 };
  cases = 0;
  /** Cases of which the rules permit one outcome only. */
  exact = 0;
  askedAgain = 0;

  count(outcome: string, { permitted }: Expected): void {
    this.cases += 1;
    if (permitted.length === 1) this.exact += 1;
    if (outcome in this.told) this.told[outcome as Outcome] += 1;
  }

  toString(): string {
    const told = Object.entries(this.told).map(([outcome, times]) => `${times} ${outcome}`);
    return `${this.cases} cases, of them ${told.join(', ')}; ${this.exact} with one right outcome, ${this.askedAgain} asked again`;
  }

  share(outcome: Outcome): number {
    return this.told[outcome] / this.cases;
  }
}
