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

/** A greatest round beyond this many times the least one: the machine has decided, not the code. */
const MAX_SPREAD = 1.5;

/** Returns the text of a finding about its target. */
export function verdictText({ target, value, byCpu, unit }: Finding): string {
  if (!target) return '';
  const judged = target.byCpu ? (byCpu ?? value) : value;
  if (!isResolved(judged, unit)) return 'not resolved';
  return target.isReached(judged) ? 'reached' : 'NOT reached';
}

/** By the figures as they are printed, so that a reader comes to the same verdict. */
function isResolved({ min, max }: Spread, unit: string): boolean {
  const [least, most] = [Number(figure(min, unit)), Number(figure(max, unit))];
  return least === most || (least > 0 && most / least <= MAX_SPREAD);
}
