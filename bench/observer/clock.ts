/** Milliseconds of the machine's monotonic clock, which all processes share (on Linux: CLOCK_MONOTONIC). */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** A span of time on {@link nowMs}. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Whether two spans have a moment in common. */
export function overlap(one: Span, other: Span): boolean {
  return one.fromMs <= other.toMs && other.fromMs <= one.toMs;
}
