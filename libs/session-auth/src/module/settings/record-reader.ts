import {
  identifying,
  internCommonValues,
  type PrepareReader,
  prepareUserReader,
} from '../../contract/record/user-reader.js';
import {
  hasAddedDecorators,
  type ReadUser,
  UserRecord,
  type UserRecordClass,
  type UserRecordSchema,
} from '../../contract/record/user-record.js';
import { invalidOption } from '../../contract/errors.js';

interface UserReaderSettings {
  readonly identityFields: readonly string[];
  /** Set if records are cached: they then share equal values. */
  readonly cache: object | undefined;
}

/** Loads what reads records of a class or a schema of the application; `undefined` for anything else. */
export async function readerFor(record: unknown): Promise<PrepareReader | undefined> {
  if (record === UserRecord && !hasAddedDecorators()) return prepareUserReader;
  if (isClass(record)) return (await import('../../records/record-class.js')).prepareReader(record);
  if (isSchema(record)) return (await import('../../records/schema-record.js')).prepareSchemaReader(record);
  return undefined;
}

function isClass(record: unknown): record is UserRecordClass {
  return record === UserRecord || (typeof record === 'function' && record.prototype instanceof UserRecord);
}

/** The schemas of some libraries are functions. */
function isSchema(record: unknown): record is UserRecordSchema {
  const standard = (record as Partial<UserRecordSchema> | undefined)?.['~standard'];
  return standard?.version === 1 && typeof standard.validate === 'function';
}

/** @throws InvalidConfigurationError */
export function readUserWith(
  { identityFields, cache }: UserReaderSettings,
  prepare: PrepareReader | undefined,
): ReadUser<UserRecord> {
  if (!prepare)
    return invalidOption(
      'userRecord',
      'must be a class that extends UserRecord, or a Standard Schema',
      'Declare your fields in one of them, or leave it out',
    );
  const { fields, read } = prepare(cache && internCommonValues());
  rejectIdentityFields(identityFields, fields);
  return identifying(identityFields, read);
}

function rejectIdentityFields(fields: readonly string[], declared: ReadonlySet<string> | undefined): void {
  const unknown = declared && fields.find((name) => !declared.has(name));
  const problem = `names '${unknown}', which is no field of the user record`;
  if (unknown !== undefined) invalidOption('identityFields', problem, 'Name declared fields');
  if (fields.includes('auth_token'))
    invalidOption('identityFields', "names 'auth_token', which identifies no user", 'Name another field');
}
