/**
 * Why the session service gave no usable answer (our decision; the interface names no causes).
 *
 * - `unreachable`: no connection, or the connection broke
 * - `timeout`: no answer within `timeoutMs`
 * - `server_error`: 5xx or 408
 * - `rate_limited`: 429, or the lane pauses because of a 429
 * - `unexpected_status`: a status that the interface does not list, a 404 with a body, or `'unavailable'` by
 * `statusMap`
 * - `malformed`: a 200 that is not a user record, or is too long
 * - `busy`: no place in time, too many calls of one token, or `maxSignIns` are in flight
 * - `circuit_open`: the breaker of the lane is open
 * - `api_key`: the `apiKey` function failed, or returned no valid key
 * - `shutting_down`: the application is closing
 */
export type UnavailableReason =
  | 'unreachable'
  | 'timeout'
  | 'server_error'
  | 'rate_limited'
  | 'unexpected_status'
  | 'malformed'
  | 'busy'
  | 'circuit_open'
  | 'api_key'
  | 'shutting_down';

/** The session service gave no usable answer. Retry after `retryAfterSeconds` (1 to 120). */
export interface Unavailable {
  readonly kind: 'unavailable';
  readonly reason: UnavailableReason;
  readonly retryAfterSeconds: number;
  /**
   * The service had closed the reused connection before the reply. Not counted as a failure of the service.
   */
  readonly staleConnection?: true;
}

/** The session is valid. */
export interface Authenticated<User> {
  readonly kind: 'authenticated';
  readonly user: User;
  /** Body of the reply, as parsed; absent unless the reply was received just now. */
  readonly json?: object;
  /**
   * Of an answer from the store: the earliest time, on the monotonic clock, at which the service may have
   * confirmed the session.
   */
  readonly confirmedAtMs?: number;
  /** The service was unavailable: the verdict comes from an expired cache entry. */
  readonly stale?: true;
  /**
   * Milliseconds for which the service allows this answer to be cached, if less than `ttlMs`; 0: not at all.
   * Counted from the start of the call.
   */
  readonly cacheForMs?: number;
}

/** The session is not valid: 401. */
export interface Unauthenticated {
  readonly kind: 'unauthenticated';
  /**
   * Milliseconds for which the service allows this refusal to be cached, if less than `negativeTtlMs`; 0: not
   * at all.
   */
  readonly cacheForMs?: number;
}

/**
 * Result of one check. A value rather than an error, so that a flood of refusals does not pay for stack
 * traces.
 */
export type Verdict<User> =
  | Authenticated<User>
  | Unauthenticated
  | { readonly kind: 'forbidden' }
  | Unavailable;

export const UNAUTHENTICATED = Object.freeze({ kind: 'unauthenticated' }) satisfies Unauthenticated;
/** The service refuses this application or user: 403. */
export const FORBIDDEN = Object.freeze({ kind: 'forbidden' });

const DEFAULT_RETRY_AFTER_SECONDS = 5;

/**
 * Returns the verdict of an outage. `retryAfterSeconds` is rounded up, clamped to 1 to 120, and defaults to
 * 5.
 */
export function unavailable(
  reason: UnavailableReason,
  retryAfterSeconds = DEFAULT_RETRY_AFTER_SECONDS,
): Unavailable {
  return {
    kind: 'unavailable',
    reason,
    retryAfterSeconds: Math.min(120, Math.max(1, Math.ceil(retryAfterSeconds))),
  };
}
