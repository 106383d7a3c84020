import type { SessionIdentity } from '../../libs/session-auth/src/contract/session-identity.js';
import type { Host } from './host.js';

/** A check of one guard. */
export interface CheckRecord {
  readonly host: Host;
  readonly session: SessionIdentity;
  readonly maxAgeMs: number;
  readonly began: number;
  readonly beganAtMs: number;
  /** The first check of the same request, if the library returned that. */
  readonly reused: CheckRecord | undefined;
  /** It was answered without a promise. */
  isHit: boolean;
  /** When it began, the host was not busy with this session already. */
  readonly wasIdle: boolean;
  /** Milliseconds that the host's event loop is blocked in the whole history, so far. */
  blockedMs: number;
}

/** A sign-out, `forget`, `endUser` or `endAll`. */
export interface EndRecord {
  readonly kind: 'signOut' | 'forget' | 'endUser' | 'endAll';
  readonly host: Host;
  readonly token: string | undefined;
  readonly username: string | undefined;
  readonly started: number;
  readonly startedAtMs: number;
  settled: number;
  /** Until it settled, every command of its instance was answered well and in time. */
  isClean: boolean;
}

/** A sign-in that issued a token. */
export interface SignInRecord {
  readonly token: string;
  settled: number;
}
