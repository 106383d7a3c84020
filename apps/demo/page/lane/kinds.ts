import { type MarkKind } from '../../src/console/messages.js';

/** The kinds of the legend, in the order of a request's way. */
export const SHOWN_KINDS = ['cached', 'joined', 'asked', 'denied', 'turnedBack', 'unavailable'] as const;

interface KindLook {
  readonly label: string;
  readonly meaning: string;
  /** The custom property of its colour. */
  readonly colour: string;
  /** Colour alone must not distinguish the kinds. */
  readonly shape: 'disc' | 'ring' | 'diamond' | 'square' | 'triangle' | 'hollow';
}

/** The words and the look of each kind of request. */
export const KIND_LOOKS: Readonly<Record<MarkKind, KindLook>> = {
  cached: {
    label: 'From cache',
    meaning: 'admitted by the answer in the cache',
    colour: '--cached',
    shape: 'disc',
  },
  joined: {
    label: 'Shared a call',
    meaning: 'admitted by the call of another request with the same session',
    colour: '--joined',
    shape: 'ring',
  },
  asked: {
    label: 'Called',
    meaning: 'admitted by its own call to the session service',
    colour: '--asked',
    shape: 'diamond',
  },
  denied: {
    label: 'Denied',
    meaning: '401 or 403: no valid session, or not this route',
    colour: '--denied',
    shape: 'square',
  },
  turnedBack: {
    label: 'Breaker open',
    meaning: '503 at once, without a call',
    colour: '--unavailable',
    shape: 'hollow',
  },
  unavailable: {
    label: 'Call failed',
    meaning: '503: the service gave no usable answer',
    colour: '--unavailable',
    shape: 'triangle',
  },
  open: { label: 'Open', meaning: 'needed no session', colour: '--waiting', shape: 'disc' },
};

/** Whether requests of a kind reach the route. */
export function isAdmitted(kind: MarkKind): boolean {
  return kind === 'cached' || kind === 'joined' || kind === 'asked' || kind === 'open';
}
