/**
 * Returns the machine's monotonic clock in milliseconds, which all processes share (on Linux:
 * CLOCK_MONOTONIC).
 */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** A span of time on {@link nowMs}. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Returns whether two spans overlap. */
export function overlap(one: Span, other: Span): boolean {
  return one.fromMs <= other.toMs && other.fromMs <= one.toMs;
}
