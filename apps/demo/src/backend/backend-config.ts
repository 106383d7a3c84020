import { type SessionAuthCacheOptions } from 'nestjs-session-auth';

/** What the parts of the backend read from `ConfigService`. */
export interface BackendConfig {
  readonly SESSION_SERVICE_URL: string;
  readonly SESSION_SERVICE_API_KEY: string;
  /** How sessions are remembered; `false`: not at all. */
  readonly SESSION_CACHE: SessionAuthCacheOptions | false;
}
