import type { SessionStore } from '../../contract/session-store.js';
import type { LeaseSettings } from './leases.js';

/** How a store is used. */
export interface SharedTierSettings extends LeaseSettings {
  readonly store: SessionStore;
  /** How long a call to the store may take. */
  readonly timeoutMs: number;
  /** The first seals, all open. */
  readonly secrets: readonly [string, ...string[]];
  /** Names the session service that the sessions are of. */
  readonly scope: string;
  /** How long a session is cached. */
  readonly ttlMs: number;
  /** How long a tombstone stays: longer than any instance could cache the session. */
  readonly tombstoneMs: number;
  /** How long before it expires a session is refreshed; 0: never. */
  readonly refreshAheadMs: number;
  /** How long no instance repeats a refresh that failed. */
  readonly refreshPauseMs: number;
}

/** What the tier reports to the application. */
export interface SharedTierReports {
  /** A call to the store failed. */
  failed(): void;
  /** The wall clock of another instance differs by more than a minute. */
  clockDiffers(): void;
  /** Whether messages of other instances arrive, and if not, why. */
  busStateChanged(state: 'connected' | 'interrupted', reason?: string): void;
}
