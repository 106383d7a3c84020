import { type DemoUser } from './demo-user.js';

/** The session service that the demo asks, wherever it runs. */
export interface ConnectedSessionService {
  readonly url: string;
  readonly apiKey: string;
  /** Users to try; empty unless the service is the embedded one. */
  readonly users: readonly DemoUser[];
  close(): Promise<void>;
}
