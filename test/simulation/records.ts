import type { SessionIdentity } from '../../libs/session-auth/src/contract/session-identity.js';
import type { Host } from './host.js';

export interface CheckRecord {
  readonly host: Host;
  readonly session: SessionIdentity;
  readonly maxAgeMs: number;
  readonly began: number;
  readonly beganAtMs: number;
  /** The first check of the same request, if the library reused it. */
  readonly reused: CheckRecord | undefined;
  /** Whether it was answered without a promise. */
  isHit: boolean;
  /** Whether the host was not already checking this session when it began. */
  readonly wasIdle: boolean;
  /** Total milliseconds that the host's event loop has been blocked in the history so far. */
  blockedMs: number;
}

/** A sign-out, `forget`, `forgetUser` or `forgetAll`. */
export interface RevocationRecord {
  readonly kind: 'signOut' | 'forget' | 'forgetUser' | 'forgetAll';
  readonly host: Host;
  readonly token: string | undefined;
  readonly username: string | undefined;
  readonly started: number;
  readonly startedAtMs: number;
  settled: number;
  /** Whether every command of its instance succeeded in time until it settled. */
  isClean: boolean;
  isRejected: boolean;
}

export interface SignInRecord {
  readonly token: string;
  settled: number;
  settledAtMs: number;
}
