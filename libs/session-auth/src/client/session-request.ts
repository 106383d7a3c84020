import type { AxiosRequestConfig } from 'axios';
import type { Deadline } from './deadline.js';

/** What one call asks of the transport, in axios's own terms, so that interceptors see an ordinary request. */
export interface SessionRequest extends AxiosRequestConfig {
  readonly headers: Readonly<Record<string, string>>;
  readonly deadline: Deadline;
  /** A sign-in or sign-out is tried once, so its connection must not be one that the service may just have closed. */
  readonly freshConnection: boolean;
}
