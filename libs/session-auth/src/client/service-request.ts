import type { Deadline } from './deadline.js';

/** One request of the interface, complete with headers and body. */
export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** Path, including the path of the base URL. */
  readonly path: string;
  /** Names and values, alternating. */
  readonly headers: readonly string[];
  readonly body: string | null;
  readonly deadline: Deadline;
  /**
   * Use a new connection. A sign-in or sign-out is never retried, so it must not use one that the service may
   * just have closed.
   */
  readonly freshConnection: boolean;
}
