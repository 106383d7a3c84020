import { tokenKey } from '../session-key.js';

/** What is sealed: the record as the service sent it, without its token, and when that was. */
interface SharedRecord {
  readonly confirmedAt: number;
  readonly ttlMs: number;
  /** The record had the token that was presented. */
  readonly hasToken: boolean;
  readonly json: object;
}

/** A record from a store. */
export interface ReadRecord {
  readonly json: object;
  /** Milliseconds since the service confirmed it. */
  readonly ageMs: number;
}

/** Writes a record down that the service was asked for `ageMs` ago, for the session of this token (its digest). */
export function writeSharedRecord(
  json: object,
  token: string,
  { ttlMs, ageMs }: { readonly ttlMs: number; readonly ageMs: number },
): string {
  const { auth_token: echoed, ...rest } = json as { auth_token?: unknown };
  const hasToken = typeof echoed === 'string' && tokenKey(echoed) === token;
  return JSON.stringify({ confirmedAt: Date.now() - ageMs, ttlMs, hasToken, json: rest } satisfies SharedRecord);
}

/**
 * Reads a record that was sealed. Its age is counted by the store's clock; by this host's clock too, which can only make it older:
 * whoever can write to the store could put back a record that has lapsed, and give it another lifetime.
 */
export function readSharedRecord(text: string, token: string, remainingMs: number): ReadRecord {
  const { confirmedAt, ttlMs, hasToken, json } = JSON.parse(text) as SharedRecord;
  const ageMs = Math.max(0, ttlMs - remainingMs, Date.now() - confirmedAt);
  return { json: hasToken ? { ...json, auth_token: token } : json, ageMs };
}
