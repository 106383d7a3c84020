/** One process that runs the library: its clocks, and whether it lives. A restart is a new host. */
export interface Host {
  readonly name: string;
  /** Number of the instance; its restarts have the same. */
  readonly index: number;
  isAlive: boolean;
  /** When it started, in the sequence of everything. */
  readonly startedAt: number;
  /** When its monotonic clock was at 0. */
  readonly startedAtMs: number;
  /** Its wall clock less the true time. */
  wallOffsetMs: number;
  /** Nothing happens there before: its event loop is blocked. */
  blockedUntilMs: number;
  /** Timers that are set. */
  timers: number;
}

/** Something that happens at a time, on a host or between them. */
export interface WorldEvent {
  atMs: number;
  readonly tie: number;
  readonly host: Host | undefined;
  run: (() => void) | undefined;
}
