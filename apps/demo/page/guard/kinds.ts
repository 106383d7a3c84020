import { type CheckKind, type DenialCode, type LiveReport } from '../../src/console/messages.js';

interface KindLook {
  readonly label: string;
  readonly colour: string;
  /** Dashes of its line: colour alone must not distinguish the kinds. */
  readonly dash: number[];
}

/** The label and the look of each kind of check; the panel is dark in both colour schemes. */
export const KIND_LOOKS: Readonly<Record<CheckKind, KindLook>> = {
  cached: { label: 'Cached', colour: '#5fd3a6', dash: [] },
  joined: { label: 'Joined a call', colour: '#7fb0ff', dash: [6, 3] },
  called: { label: 'Called the service', colour: '#e6e9f2', dash: [2, 2] },
  refused: { label: 'Denied', colour: '#f5bd66', dash: [8, 3, 2, 3] },
  unavailable: { label: 'Unavailable', colour: '#ff8d84', dash: [3, 6] },
};

/** The label, the sign and the meaning of each state of the breaker. */
export const BREAKER_LOOKS: Readonly<
  Record<LiveReport['breaker'], { readonly label: string; readonly sign: string; readonly meaning: string }>
> = {
  closed: { label: 'Closed', sign: '●', meaning: 'calls are made' },
  halfOpen: { label: 'Half-open', sign: '◐', meaning: 'one probe is in flight' },
  open: { label: 'Open', sign: '○', meaning: 'no calls: only cached sessions are admitted' },
};

/** The label of each denial: its status and its reason. */
export const DENIAL_LABELS: Readonly<Record<DenialCode, string>> = {
  SESSION_REQUIRED: '401 no token',
  SESSION_REJECTED: '401 not valid',
  ACCESS_DENIED: '403 not allowed',
  SESSION_SERVICE_UNAVAILABLE: '503 unavailable',
};
