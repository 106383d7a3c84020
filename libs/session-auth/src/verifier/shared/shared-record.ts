import { type TokenKey, tokenKeyOf } from '../../contract/session-identity.js';
import { CLOCK_TOLERANCE_MS } from './revocation-bus.js';
import { objectIn } from './session-seal.js';

/** The sealed form: the record as the service sent it, without its token, and when that was. */
interface SharedRecord {
  /** Wall clock of the instance that asked. */
  readonly confirmedAt: number;
  readonly ttlMs: number;
  /** The record had the token that was presented. */
  readonly hasToken: boolean;
  /** The store's clock at a moment before the service was asked. */
  readonly since: number;
  readonly json: object;
}

/** When a record was confirmed. Milliseconds. */
export interface RecordAge {
  readonly ttlMs: number;
  readonly ageMs: number;
  /** The store's clock at a moment before the service was asked. */
  readonly sinceMs: number;
}

/** A record from a store. */
export interface ReadRecord {
  readonly json: object;
  /** Milliseconds since the service confirmed it. */
  readonly ageMs: number;
  /** The store's clock at a moment before the service was asked. */
  readonly sinceMs: number;
  /** The wall clocks of the two instances are more than a minute apart. */
  readonly clockDiffers: boolean;
}

/** Serialises a record for the session with this token digest. */
export function writeSharedRecord(json: object, tokenKey: TokenKey, { ttlMs, ageMs, sinceMs }: RecordAge): string {
  const { auth_token: echoed, ...rest } = json as { auth_token?: unknown };
  const hasToken = typeof echoed === 'string' && tokenKeyOf(echoed) === tokenKey;
  return JSON.stringify({ confirmedAt: Date.now() - ageMs, ttlMs, hasToken, since: sinceMs, json: rest } satisfies SharedRecord);
}

/**
 * Parses a record that was sealed; returns `undefined` if it is none of this version. The age is the greatest of three: by the record's
 * remaining lifetime, by the store's clock when the service was asked, because a record may be stored late, and by the wall clock of this
 * host, because a writer of the store could restore an expired record and give it a new lifetime.
 */
export function readSharedRecord(
  text: string,
  token: string,
  { remainingMs, storeTimeMs }: { readonly remainingMs: number; readonly storeTimeMs: number },
): ReadRecord | undefined {
  const { confirmedAt, ttlMs, hasToken, since, json } = (objectIn(text) ?? {}) as { readonly [Name in keyof SharedRecord]?: unknown };
  if (typeof confirmedAt !== 'number' || typeof ttlMs !== 'number' || typeof since !== 'number') return undefined;
  if (typeof json !== 'object' || json === null) return undefined;
  const byStoreMs = ttlMs - remainingMs;
  const byHostMs = Date.now() - confirmedAt;
  return {
    json: hasToken ? { ...json, auth_token: token } : json,
    ageMs: Math.max(0, byStoreMs, byHostMs, storeTimeMs - since),
    sinceMs: since,
    clockDiffers: Math.abs(byHostMs - byStoreMs) > CLOCK_TOLERANCE_MS,
  };
}
