import { fieldsOf, hasAsyncValidators } from '../../contract/record/field-descriptions.js';
import type { InvalidField } from '../../contract/record/record-check.js';
import { compileRecordReader } from '../../contract/record/record-reader.js';
import { internCommonValues } from '../../contract/record/common-values.js';
import { undecoratedFields } from '../../contract/record/undecorated-fields.js';
import type { UserRecord, UserRecordClass } from '../../contract/record/user-record.js';
import { invalidOption } from './option-checks.js';

/** Injection token of the function that {@link readUserWith} returns. */
export const USER_READER = Symbol('session-auth user reader');

/** The class of user records, and the fields that identify a user. */
interface UserReaderSettings {
  readonly userRecord: UserRecordClass;
  readonly identityFields: readonly string[];
  /** The field that names who acts as the user. */
  readonly impersonatorField: unknown;
  /** Set if records are cached: they then share equal values. */
  readonly cache: object | undefined;
}

/** Receives the reason why a record is not a user. */
export interface InvalidRecordLog {
  /** A field has the wrong type. */
  invalidField(field: InvalidField): void;
  /** All identity fields are absent or empty. */
  missingIdentity(identityFields: readonly string[]): void;
  /** A validator or a transformation of the record class threw. */
  validatorThrew(recordClass: string): void;
}

/**
 * Builds the function that validates a record: its fields, and that an identity field is set. @throws
 * InvalidConfigurationError
 */
export function readUserWith(
  { userRecord, identityFields, impersonatorField, cache }: UserReaderSettings,
  log: InvalidRecordLog,
): (json: object) => UserRecord | undefined {
  const sample = constructing(() => new userRecord(), 'has a constructor that throws');
  rejectUndecoratedFields(userRecord);
  const declared = new Set(fieldsOf(userRecord).map(({ name }) => name));
  rejectIdentityFields(identityFields, declared);
  rejectImpersonatorField(impersonatorField, declared);
  if (hasAsyncValidators(userRecord))
    invalidOption('userRecord', 'has an asynchronous validator', 'Use validators that answer at once');
  if (Object.hasOwn(sample, 'auth_token'))
    invalidOption('userRecord', 'declares auth_token again', 'Leave it to UserRecord');
  const readOrLog = loggingReader(userRecord, cache, log);
  return (json) => {
    const user = readOrLog(json);
    if (!user || identityFields.some((name) => isNonEmptyString(user[name as keyof UserRecord]))) return user;
    log.missingIdentity(identityFields);
    return undefined;
  };
}

/**
 * Compiles the reader of a record class. It logs why a record is not a user, even if code of the class
 * throws.
 */
function loggingReader(userRecord: UserRecordClass, cache: object | undefined, log: InvalidRecordLog) {
  const read = compileRecordReader(userRecord, cache && internCommonValues(), (field) =>
    log.invalidField(field),
  );
  return (json: object): UserRecord | undefined => {
    try {
      return read(json);
    } catch {
      log.validatorThrew(userRecord.name);
      return undefined;
    }
  };
}

function rejectIdentityFields(fields: readonly string[], declared: ReadonlySet<string>): void {
  const unknown = fields.find((name) => !declared.has(name));
  if (unknown !== undefined)
    invalidOption(
      'identityFields',
      `names '${unknown}', which is no field of the user record`,
      'Name declared fields',
    );
  if (fields.includes('auth_token'))
    invalidOption('identityFields', "names 'auth_token', which identifies no user", 'Name another field');
}

function rejectImpersonatorField(field: unknown, declared: ReadonlySet<unknown>): void {
  if (field === undefined || (declared.has(field) && field !== 'auth_token')) return;
  invalidOption(
    'impersonatorField',
    'must be the name of a field of the user record',
    'Declare the field in userRecord, or leave it out',
  );
}

/** Records and their nested objects are created without arguments, before their fields are set. */
function constructing<T>(construct: () => T, problem: string): T {
  try {
    return construct();
  } catch {
    return invalidOption('userRecord', problem, 'Declare fields only, without arguments');
  }
}

function rejectUndecoratedFields(userRecord: UserRecordClass): void {
  const paths = constructing(
    () => undecoratedFields(userRecord),
    'has a nested class whose constructor throws',
  );
  const names = paths.map((path) => `'${path}'`);
  if (names.length === 0) return;
  invalidOption(
    'userRecord',
    `has fields without a decorator of class-validator, which the service can't set: ${names.join(', ')}`,
    'Decorate them, for example with @IsOptional() @IsString(), or make them getters',
  );
}

function isNonEmptyString(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
