/**
 * The total time with a silent service: the test waits for all of it, and a slow machine answers the next
 * request in less.
 */
export const SILENCE_MS = 3_000;
