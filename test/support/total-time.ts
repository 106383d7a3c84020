import { silence, type Script } from './scripted-service.js';

/**
 * The total time with a silent service: the test waits for all of it, and a slow machine answers the next
 * request in less.
 */
export const SILENCE_MS = 3_000;

/** Milliseconds for a call: where the service answers, more than any machine takes. */
export function totalTimeFor(script: Script | undefined): number {
  return script === silence ? SILENCE_MS : 60_000;
}
