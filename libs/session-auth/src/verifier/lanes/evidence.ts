import type { UnavailableReason, Verdict } from '../../contract/verdict.js';
import type { CallResult } from '../circuit.js';

/** Failures of the service: no connection (and a reply that is not HTTP, or whose head is too long), no answer in time, 408 and 5xx. */
const FAILURES: ReadonlySet<UnavailableReason> = new Set(['unreachable', 'timeout', 'server_error']);

/**
 * Returns what a call shows about the service. A refusal is a success: the service answered. Any other status, 429 and a malformed 200 concern
 * this request alone; a full queue, an open breaker, a failing `apiKey` function and a shutdown are ours. A connection that the service had
 * closed, and a call that timed out without its full time, show nothing either.
 */
export function evidenceOf(verdict: Verdict<unknown>, hadFullTime: boolean): CallResult {
  if (verdict.kind !== 'unavailable') return 'success';
  if (verdict.staleConnection || !FAILURES.has(verdict.reason)) return 'neither';
  return verdict.reason === 'timeout' && !hadFullTime ? 'neither' : 'failure';
}
