import { type TokenKey, tokenKeyOf } from '../contract/session-identity.js';
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

/** Stands for the presented token, wherever the record contained it. */
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

export function writeSharedRecord(
  json: object,
  tokenKey: TokenKey,
  { ttlMs, ageMs, sinceMs, hostMs }: RecordAge,
): string {
  const isToken = (value: unknown): boolean => typeof value === 'string' && tokenKeyOf(value) === tokenKey;
  const { auth_token: echoed, ...rest } = json as { auth_token?: unknown };
  const record: SharedRecord = {
    confirmedAt: hostMs - ageMs,
    ttlMs,
    since: sinceMs,
    json: isToken(echoed) ? json : rest,
  };
  return JSON.stringify(record, (_name, value: unknown) => (isToken(value) ? TOKEN : value));
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
  // The token is not a view of a header, by which a cached record would keep the whole header in memory.
  const withToken = text.replaceAll(JSON.stringify(TOKEN), () => JSON.stringify(token));
  const { confirmedAt, ttlMs, since, json } = (parseObject(withToken) ?? {}) as {
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
