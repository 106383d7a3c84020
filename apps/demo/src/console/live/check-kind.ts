import type { CheckMessage } from 'nestjs-session-auth/diagnostics';
import { type CheckKind } from '../messages.js';

/** Returns the kind of a check: who decided, and how. */
export function kindOf({ outcome, source, joined, reason }: CheckMessage): CheckKind {
  if (outcome === 'unavailable') return reason === 'circuit_open' ? 'turnedBack' : 'unavailable';
  if (outcome !== 'authenticated') return 'denied';
  if (source === 'cache') return 'cached';
  return joined ? 'joined' : 'asked';
}
