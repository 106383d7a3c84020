import type { Type } from '@nestjs/common';
import type { UserRecord, UserRecordClass, UserRecordSchema } from '../../contract/record/user-record.js';
import type { LocalUser, SessionAuthTypes } from '../../contract/session-auth-types.js';
import type { LoadUser, UserLoader } from '../../guard/current-user.decorator.js';

/** The option `userRecord`. */
export interface OptionalRecord<User extends UserRecord> {
  /**
   * What a record is: a class that extends `UserRecord` with your own fields, each with a class-validator
   * decorator, or a Standard Schema (zod, valibot, arktype), whose result is the record. Required if
   * `SessionAuthTypes` declares `user`. @default UserRecord
   */
  readonly userRecord?: UserRecordClass<User> | UserRecordSchema<User>;
}

/**
 * The option `userRecord`, if `SessionAuthTypes` declares `user`: without the class, records would lack the
 * fields of that type.
 */
export interface RequiredRecord<User extends UserRecord> {
  /**
   * What a record is: the class that `SessionAuthTypes` declares as `user`, with a class-validator decorator on
   * each field, or a Standard Schema of that type.
   */
  readonly userRecord: UserRecordClass<User> | UserRecordSchema<User>;
}

/** The option `userRecord`, required or optional. */
export type RecordOption<User extends UserRecord> =
  SessionAuthTypes extends Readonly<Record<'user', UserRecord>> ? RequiredRecord<User> : OptionalRecord<User>;

/** The option `loadUser`. */
export interface OptionalLoader<User extends UserRecord, Local> {
  /**
   * Loads the application's own user of a record, once for each request, after the check: a function, or an
   * injectable class with `load(record, context)`. The user is `request.user` and what `@CurrentUser()`
   * injects; `@SessionRecord()` injects the record, which rules read. `@Authorize()` gets both. Without a user,
   * the call is denied: 403. Required if `SessionAuthTypes` declares `localUser`. @default the record itself
   */
  readonly loadUser?: LoadUser<User, Local> | Type<UserLoader<User, Local>>;
}

/** The option `loadUser`, required or optional. */
export type LoaderOption<User extends UserRecord> =
  SessionAuthTypes extends Readonly<Record<'localUser', unknown>>
    ? Required<OptionalLoader<User, LocalUser>>
    : OptionalLoader<User, LocalUser>;

/** The names of the fields that hold a text or a number. */
export type TextField<User extends UserRecord> = {
  [Name in Exclude<keyof User & string, 'auth_token'>]-?: NonNullable<User[Name]> extends string | number
    ? Name
    : never;
}[Exclude<keyof User & string, 'auth_token'>];
