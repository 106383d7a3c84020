import { type MarkKind } from '../../src/console/messages.js';
import { count, counted } from '../text.js';
import { isAdmitted, KIND_LOOKS, SHOWN_KINDS } from './kinds.js';

/** Requests, calls to the session service, and the outcomes of the requests. */
export type Counts = Readonly<Record<MarkKind | 'requests' | 'calls', number>>;

export function noCounts(): Counts {
  return {
    requests: 0,
    calls: 0,
    cached: 0,
    joined: 0,
    asked: 0,
    denied: 0,
    turnedBack: 0,
    unavailable: 0,
    open: 0,
  };
}

/** The requests that reached the route. */
export function admitted(counts: Counts): number {
  return SHOWN_KINDS.filter(isAdmitted).reduce((sum, kind) => sum + counts[kind], counts.open);
}

/** Describes the picture in words: `500 requests, 1 call. Joined 499, asked 1.` */
export function describe(counts: Counts): string {
  if (counts.requests === 0) return 'No requests yet.';
  const kinds = SHOWN_KINDS.filter((kind) => counts[kind] > 0).map(
    (kind) => `${KIND_LOOKS[kind].label.toLowerCase()} ${count(counts[kind])}`,
  );
  return `${counted(counts.requests, 'request')}, ${counted(counts.calls, 'call')} to the session service: ${kinds.join(', ') || 'waiting'}.`;
}
