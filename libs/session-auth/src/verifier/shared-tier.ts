import type { Verdict } from '../contract/outcome.js';
import type { SessionIdentity, SessionKeys, TokenKey } from '../contract/session-identity.js';
import type { SessionStore } from '../contract/session-store.js';
import type { Revocation } from './revocations.js';
import type { Flight } from './single-flight.js';

export interface SharedTier<User> {
  /** Checks a session by the shared cache, or else by the service. Never rejects. */
  check(
    session: SessionIdentity,
    keys: SessionKeys,
    call: ServiceCall<User>,
    flight: Flight,
  ): Promise<Verdict<User>>;
  /** Refreshes a cached session as {@link check} does, unless another instance has done so. Never rejects. */
  refresh: SharedTier<User>['check'];
  /** Stores a revocation, then publishes it. What fails is retried. Resolves after the first attempt. */
  deliver(revocation: Revocation): Promise<void>;
  /** Removes the tombstone of a session: a sign-in has issued this token. */
  clearTombstone(tokenKey: TokenKey): Promise<void>;
  /** Deletes a session. Delivers the refusal if it was cached, here or in the store. */
  refused(refusal: Revocation & { readonly tokenKey: TokenKey }, wasCached: boolean): Promise<void>;
  subscribe(listener: RevocationListener): void;
  /** Delivers what is pending, for a limited time, and stops publishing and receiving. */
  close(): Promise<void>;
}

/** Calls the service. `spentMs`: milliseconds of the check's time that have passed. Never rejects. */
export type ServiceCall<User> = (spentMs: number) => Promise<Verdict<User>>;

export interface RevocationListener {
  receive(revocation: Revocation): void;
  /** Called when a look-up finds the tombstone of a session. */
  foundTombstone(tokenKey: TokenKey): void;
  /** Called when messages may have been lost, so that any cached session may be revoked. */
  messagesLost(): void;
  /** Whether an answer, confirmed at a time of the monotonic clock, is revoked here: also by its token. */
  isRevokedSince(user: unknown, confirmedAtMs: number, tokenKey: TokenKey): boolean;
}

export interface SharedTierSettings {
  readonly store: SessionStore;
  readonly timeoutMs: number;
  /** The first seals new values; all of them open values. */
  readonly secrets: readonly [string, ...string[]];
  readonly scope: string;
  readonly ttlMs: number;
  /** Lifetime of a tombstone: longer than any instance could cache the session, whatever its options. */
  readonly tombstoneMs: number;
  /** Time before it expires at which a session is refreshed; 0: never. */
  readonly refreshAheadMs: number;
}

export interface SharedTierReports {
  failed(): void;
  answered(): void;
  /** Called when the wall clock of another instance differs by more than a minute. */
  clockDiffers(): void;
  unreadable(): void;
  /** Called when the application closes, with the number of revocations that were not delivered. */
  lost(count: number): void;
  /** Called when messages of other instances start or stop arriving, with the reason if they stop. */
  busStateChanged(state: 'connected' | 'interrupted', reason?: string): void;
}
