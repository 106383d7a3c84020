import { type LoggerService, type LogLevel } from '@nestjs/common';
import { type DatabasePlace } from './database/database-place.js';
import { type SignInLimitOptions } from './sign-in-limits/sign-in-limits.js';

/** Options of the service. */
export interface ReferenceServiceOptions extends DatabasePlace {
  /** TCP port, 0 to 65535; 0 selects a free port. @default 0 */
  readonly port?: number;
  /** Address to listen on. @default '127.0.0.1' */
  readonly host?: string;
  /**
   * Whether to add the demo application and its users; not allowed in production. @default NODE_ENV is not
   * 'production'
   */
  readonly seed?: boolean;
  /**
   * Whether to start with the demo accounts on a host that is not loopback: their passwords and their key are
   * published. @default false
   */
  readonly exposeDemoAccounts?: boolean;
  /**
   * Milliseconds from sign-in until a session expires, 1 to 31 536 000 000 (a year). @default 43 200 000 (12
   * hours)
   */
  readonly sessionLifetimeMs?: number;
  /** Limits of failed sign-ins; beyond them, sign-ins get 429. */
  readonly signInLimits?: SignInLimitOptions;
  /**
   * Nest's logger. Nest has one per process, so this also sets the logger of an application that embeds the
   * service. If absent, that logger is unchanged.
   */
  readonly logger?: LoggerService | LogLevel[] | false;
}
