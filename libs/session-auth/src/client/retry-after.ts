/**
 * Seconds that a `Retry-After` asks for, as a number of seconds or a date (RFC 9110, section 10.2.3);
 * `undefined` when there is none or it can't be read.
 */
export function readRetryAfterSeconds(value: unknown, now = Date.now()): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^\s*\d+\s*$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : (date - now) / 1000;
}
