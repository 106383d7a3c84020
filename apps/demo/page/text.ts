const NUMBERS = new Intl.NumberFormat('en');

/** Formats a whole number with thousands separators. */
export function count(value: number): string {
  return NUMBERS.format(value);
}

/** Formats a number with its noun: `1 call`, `2 calls`. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${value === 1 ? noun : `${noun}s`}`;
}

/** Formats milliseconds in a suitable unit. */
export function duration(ms: number): string {
  if (ms < 1) return `${Math.max(1, Math.round(ms * 1000))} µs`;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 10_000 ? `${count(Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;
}
