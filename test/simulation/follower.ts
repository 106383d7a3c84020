import type { Verdict } from '../../libs/session-auth/src/contract/outcome.js';
import type { SessionIdentity } from '../../libs/session-auth/src/contract/session-identity.js';
import type { StoreEntry } from '../../libs/session-auth/src/contract/session-store.js';
import type { Flight } from '../model/state.js';
import type { Host } from './host.js';

/** A look-up or a call of the library, as a flight of the model. */
export interface Step {
  readonly host: Host;
  readonly flight: Flight;
  readonly sentAtMs: number;
  /** Position of its start in the trace. */
  readonly began: number;
  /** Position from which checks no longer join it. */
  closed: number;
}

/** Receives the events at the seams of the library: its store and its service. */
export interface Follower {
  looks(host: Host, key: string): Step | undefined;
  looked(step: Step | undefined, entry: StoreEntry): void;
  read(step: Step | undefined): void;
  stores(host: Host, key: string, value: Uint8Array): void;
  refused(host: Host, key: string, sentAtMs: number): void;
  clears(host: Host, key: string): void;
  recorded(host: Host, key: string): void;
  received(host: Host, text: string): void;
  subscribing(host: Host): void;
  subscribed(host: Host): void;
  asks(host: Host, session: SessionIdentity): Step;
  replied(step: Step | undefined, verdict: Verdict<{ readonly answer: number }>): void;
  signedIn(host: Host, token: string): void;
}
