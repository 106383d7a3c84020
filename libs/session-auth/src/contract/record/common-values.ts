import { CclInfo } from './user-record.js';

/** Fields with values that many users share. */
const COMMON_FIELDS = [
  'first_name',
  'last_name',
  'role',
  'sub_role',
  'preffered_language',
  'client_name',
  'display_label',
] as const;

const MAX_VALUES = 1_000;
const MAX_LENGTH = 128;

type Fields = Record<string, unknown>;

/**
 * Returns a function that makes records share equal values, so that each value is in memory once, up to a
 * limit per field.
 */
export function internCommonValues(): (user: Fields) => void {
  const texts = COMMON_FIELDS.map((name) => ({ name, share: internTable<string>() }));
  const shareCclInfo = internTable<CclInfo>();
  return (user) => {
    for (const { name, share } of texts) {
      const text = user[name];
      if (typeof text === 'string') user[name] = share(text, text);
    }
    const cclInfo = user.ccl_info;
    if (cclInfo instanceof CclInfo && cclInfo.constructor === CclInfo)
      user.ccl_info = shareCclInfo(JSON.stringify(cclInfo), cclInfo);
  };
}

/** Returns a function that returns the first value passed with a key. */
function internTable<Value>(): (key: string, value: Value) => Value {
  const values = new Map<string, Value>();
  return (key, value) => {
    const interned = values.get(key);
    if (interned === undefined && values.size < MAX_VALUES && key.length <= MAX_LENGTH)
      values.set(key, value);
    return interned ?? value;
  };
}
