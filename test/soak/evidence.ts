import { createHash } from 'node:crypto';

/** The field of each record in which the service writes its time and its token. Applications return it. */
export interface Evidence {
  readonly username?: string | undefined;
  /** Microseconds of the clock that all processes of this machine share, at the arrival of the call. No two answers have the same. */
  readonly answer?: number | undefined;
  /** {@link markOf} the token. */
  readonly mark?: number | undefined;
}

/** Stands for a token: secrets do not leave the processes. */
export function markOf(token: string): number {
  return createHash('sha256').update(token).digest().readUInt32BE();
}

/** Microseconds of a clock that never goes back, and that all processes of a machine share. */
export function sharedClockUs(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

/** The difference between the shared clock and `performance.now()` of this process, in milliseconds: the least of many samples, because a busy machine adds to each. */
export const CLOCK_OFFSET_MS = Math.min(...Array.from({ length: 200 }, () => sharedClockUs() / 1_000 - performance.now()));
