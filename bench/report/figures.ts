import type { Finding } from '../question.js';
import type { Spread } from '../spread.js';

const DIGITS: Readonly<Record<string, number>> = { ratio: 2, us: 2, ms: 1, MB: 1, kB: 1, 'of 1,000': 1 };

/** Returns a figure with a suitable number of digits. */
export function figure(value: number, unit: string): string {
  return value.toFixed(DIGITS[unit] ?? 0);
}

/** Least, middle and greatest; one figure where there was one round. */
export function spreadText({ min, median, max }: Spread, unit: string): string {
  if (min === max) return figure(median, unit);
  return `${figure(min, unit)} / **${figure(median, unit)}** / ${figure(max, unit)}`;
}

/** Returns the text of a finding about its target. */
export function verdictText({ target, value, byCpu }: Finding): string {
  if (!target) return '';
  return target.isReached(target.byCpu ? (byCpu ?? value) : value) ? 'reached' : 'NOT reached';
}
