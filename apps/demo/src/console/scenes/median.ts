/** Returns the median of some durations, to a tenth of a millisecond; 0 of none. */
export function medianMs(replies: readonly { readonly tookMs: number }[]): number {
  const sorted = replies.map(({ tookMs }) => tookMs).sort((one, other) => one - other);
  return Math.round((sorted[Math.floor(sorted.length / 2)] ?? 0) * 10) / 10;
}
