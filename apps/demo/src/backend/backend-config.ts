import { type SessionAuthCacheOptions } from 'nestjs-session-auth';

/** The values that the backend reads from `ConfigService`. */
export interface BackendConfig {
  readonly SESSION_SERVICE_URL: string;
  readonly SESSION_SERVICE_API_KEY: string;
  /** Options of the session cache; `false`: off. */
  readonly SESSION_CACHE: SessionAuthCacheOptions | false;
}
