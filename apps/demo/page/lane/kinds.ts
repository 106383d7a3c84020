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
  cached: { label: 'Cached', meaning: 'the cache answered', colour: '--cached', shape: 'disc' },
  joined: {
    label: 'Joined',
    meaning: 'shared the call of another request',
    colour: '--joined',
    shape: 'ring',
  },
  asked: { label: 'Asked', meaning: 'made a call', colour: '--asked', shape: 'diamond' },
  denied: { label: 'Denied', meaning: '401 or 403', colour: '--denied', shape: 'square' },
  turnedBack: {
    label: 'Turned back',
    meaning: '503 by the open breaker, without a call',
    colour: '--unavailable',
    shape: 'hollow',
  },
  unavailable: {
    label: 'Unavailable',
    meaning: '503: the service gave no answer',
    colour: '--unavailable',
    shape: 'triangle',
  },
  open: { label: 'Open', meaning: 'needed no session', colour: '--waiting', shape: 'disc' },
};

/** Whether requests of a kind reach the route. */
export function isAdmitted(kind: MarkKind): boolean {
  return kind === 'cached' || kind === 'joined' || kind === 'asked' || kind === 'open';
}
