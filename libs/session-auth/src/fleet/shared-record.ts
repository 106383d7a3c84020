import { parseObject } from '../contract/wire.js';
import { CLOCK_TOLERANCE_MS } from './host-clock.js';

/** The sealed form: the record as the service sent it, without its token, and the time of the answer. */
interface SharedRecord {
  /** Wall clock of the instance that made the call. */
  readonly confirmedAt: number;
  readonly ttlMs: number;
  /** Time of the store's clock before the service was called. */
  readonly since: number;
  readonly json: object;
}

/** Stands for the presented token, wherever the record contained it. No other field may have this text. */
const TOKEN = '\0token';

interface RecordAge {
  readonly ttlMs: number;
  readonly ageMs: number;
  readonly sinceMs: number;
  readonly hostMs: number;
}

interface ReadingTime {
  readonly remainingMs: number;
  readonly storeTimeMs: number;
  readonly hostMs: number;
}

export interface ReadRecord {
  readonly json: object;
  /** Milliseconds since the service confirmed the session; `Infinity` if a clock has stepped back since. */
  readonly ageMs: number;
  readonly ttlMs: number;
  /** Time of the store's clock before the service was called. */
  readonly sinceMs: number;
  /** Whether the wall clocks of the two instances differ by more than a minute. */
  readonly clockDiffers: boolean;
}

/** @throws if the record can't be written as JSON, or has the text that stands for the token */
export function writeSharedRecord(
  json: object,
  token: string,
  { ttlMs, ageMs, sinceMs, hostMs }: RecordAge,
): string {
  const { auth_token: echoed, ...rest } = json as { auth_token?: unknown };
  const record: SharedRecord = {
    confirmedAt: hostMs - ageMs,
    ttlMs,
    since: sinceMs,
    json: echoed === token ? json : rest,
  };
  return JSON.stringify(record, (_name, value: unknown) => {
    // It would be read as the token of the user, and a name of a company is shown to others.
    if (value === TOKEN) throw new TypeError();
    return value === token ? TOKEN : value;
  });
}

/**
 * Assumed maximum difference between the clocks of two hosts, in milliseconds, by which the age of a record
 * may be below zero.
 */
const HOST_CLOCK_TOLERANCE_MS = 1_000;

/**
 * Parses a sealed record. Returns `undefined` for a form that this version does not support. The age is the
 * greatest of three: by the remaining lifetime of the record; by the store's clock before the call, because a
 * record may be stored late; and by the clock of this host, because a writer of the store could restore an
 * expired record with a new lifetime. If one is below zero, a clock has stepped back, and the age is unknown.
 */
export function readSharedRecord(
  text: string,
  token: string,
  { remainingMs, storeTimeMs, hostMs }: ReadingTime,
): ReadRecord | undefined {
  // A copy: to V8, a part of a header is a view of it, by which a cached record would keep the whole header.
  const ownToken = Buffer.from(token).toString();
  const record = parseObject(text, (_name, value) => (value === TOKEN ? ownToken : value));
  const { confirmedAt, ttlMs, since, json } = (record ?? {}) as {
    readonly [Name in keyof SharedRecord]?: unknown;
  };
  if (typeof confirmedAt !== 'number' || typeof ttlMs !== 'number' || typeof since !== 'number')
    return undefined;
  if (typeof json !== 'object' || json === null) return undefined;
  const byStoreMs = ttlMs - remainingMs;
  const byHostMs = hostMs - confirmedAt;
  const byStoreClockMs = storeTimeMs - since;
  const isKnown = byStoreMs >= 0 && byStoreClockMs >= 0 && byHostMs >= -HOST_CLOCK_TOLERANCE_MS;
  return {
    json,
    ageMs: isKnown ? Math.max(byStoreMs, byHostMs, byStoreClockMs) : Infinity,
    ttlMs,
    sinceMs: since,
    clockDiffers: Math.abs(byHostMs - byStoreMs) > CLOCK_TOLERANCE_MS,
  };
}
