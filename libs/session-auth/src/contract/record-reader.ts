import { compileRecordBuilder } from './record-builder.js';
import { isValidRecord } from './record-check.js';
import { describedOnce, type FieldDescription } from './record-description.js';
import type { UserRecord, UserRecordClass } from './user-record.js';

/** Texts that many users have in common are kept once. */
const SHARED_FIELDS = ['role', 'sub_role', 'preffered_language', 'client_name', 'display_label'] as const;
const MAX_SHARED_TEXTS = 1_000;
const MAX_SHARED_LENGTH = 128;

type Fields = Record<string, unknown>;

/**
 * Builds the check of a record class once, at bootstrap: from a parsed JSON object to a frozen record, or `undefined` when a declared
 * field is of the wrong type. Same verdict as class-validator gives on what class-transformer builds; fields that the class does not declare
 * are dropped, and `null` becomes `undefined`.
 */
export function compileRecordReader<User extends UserRecord>(record: UserRecordClass<User>): (json: object) => User | undefined {
  const fields = describedOnce(record);
  const build = compileRecordBuilder(record);
  const share = sharedTexts();
  return (json) => {
    const user = build(json) as Fields;
    if (!isValidRecord(user, fields)) return undefined;
    settle(user, fields);
    for (const name of SHARED_FIELDS) user[name] = share(user[name]);
    const { auth_token: value } = user as UserRecord;
    Object.defineProperty(user, 'auth_token', { value, enumerable: false });
    return Object.freeze(user) as User;
  };
}

function sharedTexts(): (value: unknown) => unknown {
  const texts = new Map<string, string>();
  return (value) => {
    if (typeof value !== 'string' || value.length > MAX_SHARED_LENGTH) return value;
    const known = texts.get(value);
    if (known === undefined && texts.size < MAX_SHARED_TEXTS) texts.set(value, value);
    return known ?? value;
  };
}

/** Makes absent of null, and freezes what a field holds. */
function settle(instance: Fields, fields: readonly FieldDescription[]): void {
  for (const { name } of fields) {
    const value = instance[name];
    if (value === null) instance[name] = undefined;
    else if (typeof value === 'object') freezeDeep(value);
  }
}

function freezeDeep(value: object): void {
  for (const item of Object.values(value)) if (typeof item === 'object' && item !== null) freezeDeep(item as object);
  Object.freeze(value);
}
