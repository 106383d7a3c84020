import type { SessionStore } from '../../contract/session-store.js';
import type { LeaseSettings } from './leases.js';

/** Settings of the shared tier. Times are in milliseconds. */
export interface SharedTierSettings extends LeaseSettings {
  readonly store: SessionStore;
  /** Maximum duration of a call to the store. */
  readonly timeoutMs: number;
  /** The first seals new values; all of them open values. */
  readonly secrets: readonly [string, ...string[]];
  /** Identifies the session service of the sessions. */
  readonly scope: string;
  /** Lifetime of a session. */
  readonly ttlMs: number;
  /** Lifetime of a tombstone: longer than any instance could cache the session, whatever its options. */
  readonly tombstoneMs: number;
  /** Time before it expires at which a session is refreshed; 0: never. */
  readonly refreshAheadMs: number;
  /** Pause after a failed refresh during which no instance repeats it. */
  readonly refreshPauseMs: number;
}

/** Callbacks for the state of the shared tier. */
export interface SharedTierReports {
  /** Called when a call to the store fails. */
  failed(): void;
  /** Called when the wall clock of another instance differs by more than a minute. */
  clockDiffers(): void;
  /** Called for each message that no secret opens. */
  unreadable(): void;
  /**
   * Called when the application closes, with the number of revocations that reached neither the store nor the
   * other instances.
   */
  lost(count: number): void;
  /** Called when messages of other instances start or stop arriving, with the reason if they stop. */
  busStateChanged(state: 'connected' | 'interrupted', reason?: string): void;
}
