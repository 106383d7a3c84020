import { fieldsOf, hasAsyncValidators } from '../../contract/record/field-descriptions.js';
import { compileRecordReader } from '../../contract/record/record-reader.js';
import { internCommonValues } from '../../contract/record/common-values.js';
import type { UserRecord, UserRecordClass } from '../../contract/record/user-record.js';
import { invalidOption } from './option-checks.js';

/** Which class a record is of, and which of its fields tell who it is. */
export interface UserReaderSettings {
  readonly userRecord: UserRecordClass;
  readonly identityFields: readonly string[];
  /** Where records are remembered, they share what they have in common. */
  readonly cache: object | undefined;
}

/** Builds the check of a record: of its fields, and that it names somebody. @throws InvalidConfigurationError */
export function readUserWith({ userRecord, identityFields, cache: memory }: UserReaderSettings): (json: object) => UserRecord | undefined {
  const declared = new Set(fieldsOf(userRecord).map(({ name }) => name));
  const unknown = identityFields.find((name) => !declared.has(name));
  if (unknown !== undefined)
    invalidOption('identityFields', `names '${unknown}', which is no field of the user record`, 'Name declared fields');
  if (hasAsyncValidators(userRecord)) invalidOption('userRecord', 'has an asynchronous validator', 'Use validators that answer at once');
  if (Object.hasOwn(new userRecord(), 'auth_token')) invalidOption('userRecord', 'declares auth_token again', 'Leave it to UserRecord');
  const read = compileRecordReader(userRecord, memory && internCommonValues());
  return (json) => {
    const user = read(json);
    return user && identityFields.some((name) => isNonEmptyString(user[name as keyof UserRecord])) ? user : undefined;
  };
}

function isNonEmptyString(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
