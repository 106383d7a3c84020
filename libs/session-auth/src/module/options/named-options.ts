import type { UserRecord } from '../../contract/record/user-record.js';
import type { SessionAuthExtras } from './extras.js';
import type { SessionAuthAsyncOptions, SessionAuthOptions } from './options.js';
import type { OptionalRecord } from './record-option.js';

/**
 * Options of a registration with a name. Its user record may be of a class other than the one that
 * `SessionAuthTypes` declares as `user`.
 */
export type NamedSessionAuthOptions<User extends UserRecord = UserRecord> = Omit<
  SessionAuthOptions<User>,
  'userRecord' | 'authority'
> &
  OptionalRecord<User>;

/** The extras of a registration with a name. */
export interface NamedSessionAuthExtras extends SessionAuthExtras {
  /** See {@link SessionAuthExtras}. */
  readonly name: string;
}

/** Options of `forRootAsync` for a registration with a name. */
export type NamedSessionAuthAsyncOptions<User extends UserRecord = UserRecord> = Omit<
  SessionAuthAsyncOptions,
  'useFactory'
> & {
  /** Returns the options. */
  readonly useFactory?: (
    ...dependencies: never[]
  ) => NamedSessionAuthOptions<User> | Promise<NamedSessionAuthOptions<User>>;
};
