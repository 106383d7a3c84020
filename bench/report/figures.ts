import type { Finding } from '../question.js';
import type { Estimate } from '../estimate.js';

const DIGITS: Readonly<Record<string, number>> = { ratio: 2, us: 2, ms: 1, MB: 1, kB: 1, 'of 1,000': 1 };

/** Returns a figure with a suitable number of digits. */
export function figure(value: number, unit: string): string {
  return value.toFixed(DIGITS[unit] ?? 0);
}

/** Returns the text of an interval; empty where there was one round. */
export function intervalText({ low, high }: Estimate, unit: string): string {
  return low === high ? '' : `${figure(low, unit)} to ${figure(high, unit)}`;
}

/** Returns the text of a finding about its target. */
export function verdictText({ target, value }: Finding): string {
  if (!target) return '';
  return target.isReached(value) ? 'reached' : 'NOT reached';
}
