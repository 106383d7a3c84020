/**
 * An element of `Cache-Control` with the comma after it (RFC 9111, section 5.2): a name, with or without an argument that is a token or a quoted
 * string; or nothing. It is sticky, so that what it does not match ends the list, and it reads each character once.
 */
const ELEMENT = /[ \t]*(?:([!#$%&'*+.^`|~\w-]+)(?:=(?:([!#$%&'*+.^`|~\w-]+)|"((?:[^"\\]|\\.)*)"))?[ \t]*)?(?:,|$)/gy;

/**
 * Returns the milliseconds for which `Cache-Control` and `Age` let a reply be cached, from 0 on; `undefined` if they don't shorten `ttlMs`. What
 * can't be read forbids caching.
 */
export function readCacheForMs({ 'cache-control': control, age }: Readonly<Record<string, unknown>>, ttlMs: number): number | undefined {
  if (control === undefined && age === undefined) return undefined;
  const cacheForMs = Math.max(0, Math.min(ttlMs, maxAgeIn(control) * 1_000) - ageIn(age) * 1_000);
  return cacheForMs < ttlMs ? cacheForMs : undefined;
}

/** The smallest lifetime in `Cache-Control`, in seconds; `Infinity` if it has none. */
function maxAgeIn(field: unknown): number {
  return Math.min(...valuesOf(field).map(maxAgeInLine));
}

function maxAgeInLine(line: unknown): number {
  if (typeof line !== 'string') return 0;
  let seconds = Infinity;
  let length = 0;
  for (const [element, name, token, quoted] of line.matchAll(ELEMENT)) {
    length += element.length;
    seconds = Math.min(seconds, limitOf(name, token ?? quoted));
  }
  return length === line.length ? seconds : 0;
}

function limitOf(name: string | undefined, argument: string | undefined): number {
  switch (name?.toLowerCase()) {
    case 'no-store':
    case 'no-cache':
      return 0;
    case 'max-age':
    case 's-maxage':
      return secondsIn(argument) ?? 0;
    default:
      return Infinity;
  }
}

/** The largest `Age`, in seconds; `Infinity` if one can't be read. */
function ageIn(field: unknown): number {
  const ages = valuesOf(field).flatMap((line) => (typeof line === 'string' ? line.split(',') : ['']));
  return Math.max(0, ...ages.map((age) => secondsIn(age.trim()) ?? Infinity));
}

/** A header as its lines: one that came more than once is a list. */
function valuesOf(field: unknown): readonly unknown[] {
  if (field === undefined) return [];
  return Array.isArray(field) ? field : [field];
}

/** A number of seconds as HTTP writes it (RFC 9111, section 1.2.2), however large. */
function secondsIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

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
