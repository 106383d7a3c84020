import {
  internCommonValues,
  type PrepareReader,
  prepareUserReader,
  type ReportInvalid,
} from '../../contract/record/user-reader.js';
import { hasAddedDecorators, UserRecord, type UserRecordClass } from '../../contract/record/user-record.js';
import { invalidOption } from './option-checks.js';

/** The class of user records, and the fields that identify a user. */
interface UserReaderSettings {
  readonly userRecord: UserRecordClass;
  readonly identityFields: readonly string[];
  /** The field that names who acts as the user. */
  readonly impersonatorField: unknown;
  /** Set if records are cached: they then share equal values. */
  readonly cache: object | undefined;
}

/**
 * Returns what reads records of a class, and loads it if the class is the application's; `undefined` for
 * anything but a class of records.
 */
export async function readerFor(record: unknown): Promise<PrepareReader | undefined> {
  if (record === UserRecord && !hasAddedDecorators()) return prepareUserReader;
  const isOne =
    record === UserRecord || (typeof record === 'function' && record.prototype instanceof UserRecord);
  if (isOne) return (await import('../../records/application-record.js')).prepareReader;
  return undefined;
}

/**
 * Builds the function that validates a record: its fields, and that an identity field is set. `report`
 * receives the reason why a record is not a user. @throws InvalidConfigurationError
 */
export function readUserWith(
  { userRecord, identityFields, impersonatorField, cache }: UserReaderSettings,
  prepare: PrepareReader | undefined,
  report: ReportInvalid,
): (json: object) => UserRecord | undefined {
  if (!prepare)
    return invalidOption(
      'userRecord',
      'must be a class that extends UserRecord',
      'Declare your fields in such a class, or leave it out',
    );
  const { fields, read } = prepare(userRecord, report, cache && internCommonValues());
  rejectIdentityFields(identityFields, fields);
  rejectImpersonatorField(impersonatorField, fields);
  return (json) => {
    const user = read(json);
    if (!user || identityFields.some((name) => isNonEmptyString(user[name as keyof UserRecord]))) return user;
    report('', `one of ${identityFields.join(', ')} (identityFields) must be a non-empty string`);
    return undefined;
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

function isNonEmptyString(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
