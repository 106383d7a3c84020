/** Why the session service gave no usable answer (our decision; the interface names no causes). */
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

/** No usable answer: try again after `retryAfterSeconds` (1 to 120). */
export interface Unavailable {
  readonly kind: 'unavailable';
  readonly reason: UnavailableReason;
  readonly retryAfterSeconds: number;
  /** The service had closed the connection that was used: its fault is nobody's. */
  readonly staleConnection?: true;
}

/** The session is valid. */
export interface Authenticated<User> {
  readonly kind: 'authenticated';
  readonly user: User;
  /** What the service said, word for word, if it said so just now. */
  readonly json?: object;
  /** Milliseconds since the service said so to another instance. */
  readonly ageMs?: number;
  /** The service could not be asked: the session was confirmed before, and has lapsed since. */
  readonly stale?: true;
  /** Milliseconds for which the service lets this answer be cached, if that is less than `ttlMs`; 0: not at all. They begin when the call is sent. */
  readonly cacheForMs?: number;
}

/** The session is not valid. */
export interface Unauthenticated {
  readonly kind: 'unauthenticated';
  /** The same for a refusal, if that is less than `negativeTtlMs`. */
  readonly cacheForMs?: number;
}

/** What became of one check. A value and not an error, because a flood of refusals must not pay for stack traces. */
export type Verdict<User> = Authenticated<User> | Unauthenticated | { readonly kind: 'forbidden' } | Unavailable;

/** The session is not valid: 401. */
export const UNAUTHENTICATED = Object.freeze({ kind: 'unauthenticated' }) satisfies Unauthenticated;
/** The service refuses this application or user: 403. */
export const FORBIDDEN = Object.freeze({ kind: 'forbidden' });

const DEFAULT_RETRY_AFTER_SECONDS = 5;

/** Builds the verdict for an outage; waits are clamped to 1 to 120 seconds. */
export function unavailable(reason: UnavailableReason, retryAfterSeconds = DEFAULT_RETRY_AFTER_SECONDS): Unavailable {
  return { kind: 'unavailable', reason, retryAfterSeconds: Math.min(120, Math.max(1, Math.ceil(retryAfterSeconds))) };
}
