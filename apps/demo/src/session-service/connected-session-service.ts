import { type Fault } from './fault.js';
import { type DemoUser } from './demo-user.js';

/** The session service that the demo calls, remote or embedded. */
export interface ConnectedSessionService {
  readonly url: string;
  readonly apiKey: string;
  /** Users to sign in as; empty for a remote session service. */
  readonly users: readonly DemoUser[];
  /** Controls of the embedded session service; absent for a remote one. */
  readonly serviceControls?: ServiceControls;
  close(): Promise<void>;
}

/** Controls of the embedded session service. */
export interface ServiceControls {
  readonly fault: Fault;
  setFault(fault: Fault): Promise<void>;
  /** Ends every session without notifying the backend. Resolves to their number. */
  endAllSessions(): Promise<number>;
  /** Ends a session without notifying the backend, unaffected by the fault. */
  endSession(token: string): Promise<void>;
  /**
   * Signs in `count` times, unaffected by the fault. Resolves to the tokens of the successful sign-ins; never
   * rejects.
   */
  openSessions(count: number): Promise<string[]>;
}
