/** The median of the rounds, and an interval that contains the true one with a probability of 95 %. */
export interface Estimate {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The interval is from one order statistic to another (sign test), which assumes nothing of the distribution.
 * Fewer than six rounds have no such interval: theirs is from the least to the greatest.
 */
export function estimateOf(values: readonly number[]): Estimate {
  const sorted = values.toSorted((left, right) => left - right);
  const at = (index: number): number => sorted[index] ?? NaN;
  const middle = (sorted.length - 1) / 2;
  const cut = valuesOutside(sorted.length);
  return {
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    low: at(cut),
    high: at(sorted.length - 1 - cut),
  };
}

/** Returns how many values at each end are outside: by the normal distribution, with a correction for few. */
function valuesOutside(count: number): number {
  return Math.max(0, Math.floor((count - 1.96 * Math.sqrt(count) - 1) / 2));
}

/** Returns the ratio of two variants, round by round: within a round, the machine was the same. */
export function ratios(values: readonly number[], base: readonly number[]): Estimate {
  return estimateOf(values.map((value, round) => value / (base[round] ?? NaN)));
}

/** Part of the median, to each side, within which the interval of a figure is to be. */
const PRECISION = 0.03;
/** With fewer, there is no interval of 95 %. */
export const MIN_ROUNDS = 6;

/** Whether no more rounds are needed. */
export function isPrecise({ median, low, high }: Estimate, rounds: number): boolean {
  return rounds >= MIN_ROUNDS && high - low <= 2 * PRECISION * median;
}
