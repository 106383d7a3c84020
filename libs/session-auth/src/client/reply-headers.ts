/**
 * An element of `Cache-Control` and the comma after it (RFC 9111, section 5.2): empty, or a name with an
 * optional argument, which is a token or a quoted string. Sticky, so that an invalid element ends the
 * matches. Reads each character once.
 */
const ELEMENT =
  /[ \t]*(?:([!#$%&'*+.^`|~\w-]+)(?:=(?:([!#$%&'*+.^`|~\w-]+)|"((?:[^"\\]|\\.)*)"))?[ \t]*)?(?:,|$)/gy;

/**
 * Returns the milliseconds for which `Cache-Control` and `Age` allow a reply to be cached, at least 0;
 * `undefined` if they do not shorten `ttlMs`. A header that can't be parsed forbids caching.
 */
export function readCacheForMs(
  { 'cache-control': control, age }: Readonly<Record<string, unknown>>,
  ttlMs: number,
): number | undefined {
  if (control === undefined && age === undefined) return undefined;
  const cacheForMs = Math.max(0, Math.min(ttlMs, maxAgeIn(control) * 1_000) - ageIn(age) * 1_000);
  return cacheForMs < ttlMs ? cacheForMs : undefined;
}

/** Returns the shortest lifetime in `Cache-Control`, in seconds; `Infinity` if there is none. */
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

/** Returns the largest `Age`, in seconds; `Infinity` if one can't be parsed. */
function ageIn(field: unknown): number {
  const ages = valuesOf(field).flatMap((line) => (typeof line === 'string' ? line.split(',') : ['']));
  return Math.max(0, ...ages.map((age) => secondsIn(age.trim()) ?? Infinity));
}

/** Returns the lines of a header: an array if the reply has several. */
function valuesOf(field: unknown): readonly unknown[] {
  if (field === undefined) return [];
  return Array.isArray(field) ? field : [field];
}

/** Parses delta-seconds (RFC 9111, section 1.2.2) of any size. Returns `undefined` for anything else. */
function secondsIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/**
 * Returns the seconds of a `Retry-After`, which is a number of seconds or a date (RFC 9110, section 10.2.3);
 * `undefined` if there is none or it can't be parsed.
 */
export function readRetryAfterSeconds(value: unknown, now = Date.now()): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^\s*\d+\s*$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : (date - now) / 1000;
}
