import type { CacheSettings } from '../../libs/session-auth/src/verifier/session-cache.js';

/** One process that runs the library: its clocks, and whether it is alive. A restart creates a new host. */
export interface Host {
  readonly name: string;
  /** Number of the instance, which its restarts keep. */
  readonly index: number;
  isAlive: boolean;
  /** Whether it shuts down: it works until it has closed. */
  isClosing: boolean;
  readonly memory: CacheSettings;
  /** Secrets of its store. The first seals. */
  readonly secrets: readonly [string, ...string[]];
  /** Whether it has a secret that no other instance has. */
  readonly isForeign: boolean;
  /** Position of its start in the global sequence. */
  readonly startedAt: number;
  /** Virtual time at which its monotonic clock was 0: later after the machine was suspended. */
  startedAtMs: number;
  /** Its wall clock minus the virtual time. */
  wallOffsetMs: number;
  /** Virtual times from and until which its event loop is blocked, or was last. */
  blockedFromMs: number;
  blockedUntilMs: number;
  timers: number;
}

/** An event at a time, on a host or between hosts. */
export interface WorldEvent {
  atMs: number;
  readonly tie: number;
  readonly host: Host | undefined;
  run: (() => void) | undefined;
}
