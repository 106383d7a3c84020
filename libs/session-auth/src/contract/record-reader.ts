import { compileRecordBuilder } from './record-builder.js';
import { isValidRecord } from './record-check.js';
import { fieldsOf, type FieldDescription } from './record-description.js';
import { withHiddenToken } from './hidden-token.js';
import type { UserRecord, UserRecordClass } from './user-record.js';

type Fields = Record<string, unknown>;

/**
 * Builds the check of a record class once, at bootstrap: from a parsed JSON object to a frozen record, or `undefined` when a declared
 * field is of the wrong type. Same verdict as class-validator gives on what class-transformer builds; fields that the class does not declare
 * are dropped, and `null` becomes `undefined`. `share` may make records share what they have in common.
 */
export function compileRecordReader<User extends UserRecord>(
  record: UserRecordClass<User>,
  share?: (user: Fields) => void,
): (json: object) => User | undefined {
  const hiding = withHiddenToken(record);
  const fields = fieldsOf(record);
  const build = compileRecordBuilder(hiding.record, TOKEN_FIELD);
  return (json) => {
    const user = build(json) as Fields;
    const token: unknown = Object.hasOwn(json, TOKEN_FIELD) ? (json as Fields)[TOKEN_FIELD] : undefined;
    if (!isAbsent(token) && typeof token !== 'string') return undefined;
    hiding.hideToken(user, token ?? undefined);
    if (!isValidRecord(user, fields)) return undefined;
    settle(user, fields);
    share?.(user);
    return Object.freeze(user) as User;
  };
}

const TOKEN_FIELD = 'auth_token';

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** Makes absent of null, at every depth that is described, and freezes what a field holds. */
function settle(instance: Fields, fields: readonly FieldDescription[]): void {
  for (const { name, nested } of fields) {
    const value = instance[name];
    if (value === null) instance[name] = undefined;
    else if (typeof value === 'object') {
      if (nested) settleNested(value);
      freezeDeep(value);
    }
  }
}

function settleNested(value: object): void {
  if (!Array.isArray(value)) settle(value as Fields, fieldsOf(value.constructor as new () => object));
  else for (const item of value as object[]) settleNested(item);
}

function freezeDeep(value: object): void {
  for (const item of Object.values(value)) if (typeof item === 'object' && item !== null) freezeDeep(item as object);
  Object.freeze(value);
}
