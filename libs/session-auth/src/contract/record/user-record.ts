import 'reflect-metadata';
// By their files, because the indexes of both packages take longer to load than this library.
import { Type } from 'class-transformer/cjs/decorators/type.decorator.js';
import { IsOptional } from 'class-validator/cjs/decorator/common/IsOptional.js';
import { ValidateBy } from 'class-validator/cjs/decorator/common/ValidateBy.js';
import { ValidateNested } from 'class-validator/cjs/decorator/common/ValidateNested.js';
import { IsBoolean } from 'class-validator/cjs/decorator/typechecker/IsBoolean.js';
import { IsObject } from 'class-validator/cjs/decorator/typechecker/IsObject.js';
import { IsString } from 'class-validator/cjs/decorator/typechecker/IsString.js';
import { getMetadataStorage } from 'class-validator/cjs/metadata/MetadataStorage.js';
import type { RoleName, SubRoleName } from '../session-auth-types.js';
import { CCL_TYPES, type FieldType, RECORD_TYPES } from './record-fields.js';

/** Client, company and location of a user (section 2.2). Every id may be absent (section 2.4). */
export class CclInfo {
  /** Client id: a safe integer. */
  readonly client_id?: number | undefined;
  /** Company id: a safe integer. */
  readonly company_id?: number | undefined;
  /** Location id: a safe integer. */
  readonly location_id?: number | undefined;
}

/**
 * The user of a session, with the field names of the interface (section 2.1). Every field may be absent
 * (section 2.4); absent fields and `null` are `undefined`. To add your own fields, extend the class, decorate
 * them, and set the class as `userRecord`.
 */
export class UserRecord {
  /** Login name. */
  readonly username?: string | undefined;
  /** First name. */
  readonly first_name?: string | undefined;
  /** Last name. */
  readonly last_name?: string | undefined;
  /** Email. */
  readonly email?: string | undefined;
  /** Role; its values are not documented. */
  readonly role?: RoleName | undefined;
  /** Sub role; meaningful for a hiring manager. */
  readonly sub_role?: SubRoleName | undefined;
  /**
   * Token of the session. Readable but not enumerable, so that `return user` does not send it. Decorated
   * below: it is not an own property.
   */
  declare readonly auth_token?: string | undefined;
  /** Language that the user selected (spelled as in the interface). */
  readonly preffered_language?: string | undefined;
  /** Whether the help check box is enabled. */
  readonly help_checkbox?: boolean | undefined;
  /** Whether the benestream feature is enabled. */
  readonly benestream_enabled?: boolean | undefined;
  /** Name of the client. */
  readonly client_name?: string | undefined;
  /** Client, company and location ids. */
  readonly ccl_info?: CclInfo | undefined;
  /** Whether ATS mode is enabled. */
  readonly ats_enabled?: boolean | undefined;
  /** Whether OBS is enabled. */
  readonly obs_enabled?: boolean | undefined;
  /** Display label of the client. */
  readonly display_label?: string | undefined;
}

/** The decorators of each type of a field, besides `@IsOptional()`. */
const DECORATORS: Readonly<Record<FieldType, readonly PropertyDecorator[]>> = {
  string: [IsString()],
  boolean: [IsBoolean()],
  id: [IsSafeInteger()],
  object: [IsObject(), ValidateNested(), Type(() => CclInfo)],
};

/** For classes that extend these, which class-validator checks. Every field must be in the table. */
function decorate<Owner extends object>(
  prototype: Owner,
  types: Readonly<Record<keyof Owner & string, FieldType>>,
): void {
  for (const [name, type] of Object.entries<FieldType>(types))
    for (const decorator of [IsOptional(), ...DECORATORS[type]]) decorator(prototype, name);
}

decorate(CclInfo.prototype, CCL_TYPES);
decorate(UserRecord.prototype, RECORD_TYPES);

const OWN_DECORATORS = countDecorators();

/** A class of user records: {@link UserRecord} or one that extends it. */
export type UserRecordClass<User extends UserRecord = UserRecord> = new () => User;

/**
 * A schema of user records, by the interface Standard Schema 1 (https://standardschema.dev): of zod, valibot,
 * arktype and others. Its result is the record, so that it decides which fields a record keeps. It must answer
 * at once.
 */
export interface UserRecordSchema<User extends UserRecord = UserRecord> {
  /** The members of Standard Schema 1. @hidden */
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<User> | Promise<SchemaResult<User>>;
    readonly types?: { readonly input: unknown; readonly output: User } | undefined;
  };
}

type SchemaResult<User> =
  | { readonly value: User; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * Returns whether the classes have more decorators than those above: an application may have added some.
 */
export function hasAddedDecorators(): boolean {
  return countDecorators() !== OWN_DECORATORS;
}

function countDecorators(): number {
  const storage = getMetadataStorage();
  return [UserRecord, CclInfo].flatMap((owner) =>
    storage.getTargetValidationMetadatas(owner, '', false, false),
  ).length;
}

/** The `username` that the session service sent, of records whose class has changed it. */
const sent = new WeakMap<object, string>();

/** Reads the user in the body of a 200. Returns `undefined` for anything that is not a user. */
export type ReadUser<User> = (json: object, report?: ReportInvalid) => User | undefined;

/** Receives the reason why a record is invalid: a field, and what it must be. Contains nothing of a value. */
export type ReportInvalid = (field: string, requirement: string) => void;

/**
 * Returns the user in a body, and keeps the name that the session service sent. Returns `undefined` if it is
 * not a user, or if code of the application throws, such as a getter of a record.
 */
export function readUser<User>(
  json: object,
  read: ReadUser<User>,
  report?: ReportInvalid,
  threw?: () => void,
): User | undefined {
  try {
    const user = read(json, report);
    const { username } = json as { readonly username?: unknown };
    if (typeof username === 'string' && user && (user as UserRecord).username !== username)
      sent.set(user, username);
    return user;
  } catch {
    threw?.();
    return undefined;
  }
}

/**
 * Returns whether a predicate holds for a name of the user of a record: as the class of the record spells it,
 * or as the session service does.
 */
export function someUsername(user: object, matches: (username: string) => boolean): boolean {
  const { username } = user as { readonly username?: unknown };
  if (typeof username === 'string' && matches(username)) return true;
  const other = sent.get(user);
  return other !== undefined && matches(other);
}

/** Returns the names of the user of a record: none, one or two. */
export function usernamesOf(user: object): string[] {
  const names: string[] = [];
  someUsername(user, (username) => names.push(username) === 0);
  return names;
}

/**
 * Accepts only integers that a JavaScript number represents exactly. A larger id would silently become
 * another id (our decision).
 */
function IsSafeInteger(): PropertyDecorator {
  return ValidateBy({
    name: 'isSafeInteger',
    validator: {
      validate: (value: unknown) => Number.isSafeInteger(value),
      defaultMessage: () => '$property must be a safe integer',
    },
  });
}
