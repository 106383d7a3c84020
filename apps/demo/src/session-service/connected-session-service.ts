import { type Fault } from './fault.js';
import { type DemoUser } from './demo-user.js';

/** The session service that the demo asks, wherever it runs. */
export interface ConnectedSessionService {
  readonly url: string;
  readonly apiKey: string;
  /** Users to try; empty unless the service is the embedded one. */
  readonly users: readonly DemoUser[];
  /** What may be done to the embedded one, and to no other. */
  readonly mischief?: Mischief;
  close(): Promise<void>;
}

/** What a visitor may do to the embedded session service. */
export interface Mischief {
  readonly fault: Fault;
  ail(fault: Fault): Promise<void>;
  /** Ends every session behind the backend's back, and tells how many there were. */
  endAllSessions(): Promise<number>;
  /** Signs in so many times, past the fault, and returns the tokens. Never rejects: a sign-in that fails gives none. */
  openSessions(count: number): Promise<string[]>;
}
