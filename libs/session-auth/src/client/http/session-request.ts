import type { Deadline } from '../deadline.js';

/** One request of the interface, ready to be sent. */
export interface SessionRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** Path below it, that of the base URL included. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string | null;
  readonly deadline: Deadline;
  /** A sign-in or sign-out is tried once, so its connection must not be one that the service may just have closed. */
  readonly freshConnection: boolean;
}
