import { type CheckKind, type DenialCode, type LiveReport } from '../../src/console/messages.js';

interface KindLook {
  readonly label: string;
  readonly colour: string;
  /** Dashes of its line: no kind is told by its colour alone. */
  readonly dash: number[];
}

/** How each kind of check is called and drawn, on the dark panel in both colour schemes. */
export const KIND_LOOKS: Readonly<Record<CheckKind, KindLook>> = {
  remembered: { label: 'Remembered', colour: '#5fd3a6', dash: [] },
  shared: { label: 'Shared flight', colour: '#7fb0ff', dash: [6, 3] },
  asked: { label: 'Asked', colour: '#e6e9f2', dash: [2, 2] },
  refused: { label: 'Refused', colour: '#f5bd66', dash: [8, 3, 2, 3] },
  unavailable: { label: 'Unavailable', colour: '#ff8d84', dash: [3, 6] },
};

export const BREAKER_LOOKS: Readonly<
  Record<LiveReport['breaker'], { readonly label: string; readonly sign: string; readonly says: string }>
> = {
  closed: { label: 'Closed', sign: '●', says: 'the service is asked' },
  halfOpen: { label: 'Half-open', sign: '◐', says: 'one probe is on its way' },
  open: { label: 'Open', sign: '○', says: 'only remembered sessions enter' },
};

export const DENIAL_LABELS: Readonly<Record<DenialCode, string>> = {
  SESSION_REQUIRED: '401 no token',
  SESSION_REJECTED: '401 not valid',
  ACCESS_DENIED: '403 not allowed',
  SESSION_SERVICE_UNAVAILABLE: '503 unavailable',
};
