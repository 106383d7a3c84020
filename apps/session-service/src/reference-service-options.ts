import { type LoggerService, type LogLevel } from '@nestjs/common';
import { type DatabasePlace } from './database/database-place.js';
import { type SignInLimitOptions } from './sign-in-limits/sign-in-limits.js';

/** Where and how the service runs. */
export interface ReferenceServiceOptions extends DatabasePlace {
  /** TCP port, 0 to 65535; 0 takes a free one. @default 0 */
  readonly port?: number;
  /** Address to listen on. @default '127.0.0.1' */
  readonly host?: string;
  /** Whether the demo application and its users are added; never possible in production. @default NODE_ENV is not 'production' */
  readonly seed?: boolean;
  /** Milliseconds from sign-in until a session ends by itself, 1 to 31 536 000 000 (a year). @default 43 200 000 (12 hours) */
  readonly sessionLifetimeMs?: number;
  /** How many sign-ins may fail before further ones are refused with 429. */
  readonly signInLimits?: SignInLimitOptions;
  /**
   * Nest's logger. Nest keeps one per process, so this also sets it for an application that embeds the service; absent
   * leaves that one alone.
   */
  readonly logger?: LoggerService | LogLevel[] | false;
}
