import { CclInfo } from './user-record.js';

/** Fields whose values many users have in common. */
const COMMON_FIELDS = ['first_name', 'last_name', 'role', 'sub_role', 'preffered_language', 'client_name', 'display_label'] as const;

const MAX_VALUES = 1_000;
const MAX_LENGTH = 128;

type Fields = Record<string, unknown>;

/** Makes a record share what it has in common with others, so that each such value is remembered once, up to a limit for each field. */
export function internCommonValues(): (user: Fields) => void {
  const texts = COMMON_FIELDS.map((name) => ({ name, share: internTable<string>() }));
  const shareCclInfo = internTable<CclInfo>();
  return (user) => {
    for (const { name, share } of texts) {
      const text = user[name];
      if (typeof text === 'string') user[name] = share(text, text);
    }
    const cclInfo = user.ccl_info;
    if (cclInfo instanceof CclInfo && cclInfo.constructor === CclInfo) user.ccl_info = shareCclInfo(JSON.stringify(cclInfo), cclInfo);
  };
}

/** Gives back the first value that was given under a key. */
function internTable<Value>(): (key: string, value: Value) => Value {
  const values = new Map<string, Value>();
  return (key, value) => {
    const known = values.get(key);
    if (known === undefined && values.size < MAX_VALUES && key.length <= MAX_LENGTH) values.set(key, value);
    return known ?? value;
  };
}
