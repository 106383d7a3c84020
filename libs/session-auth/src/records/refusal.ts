import type { ReadUser, UserRecord } from '../contract/record/user-record.js';

/** Why a record is refused: a path into it, and what must be there. Contains nothing of a value. */
export type Refusal = readonly [path: string, requirement: string];

/** A path leads into a record, and may have names that are data: they could write lines of the log. */
const FIELD_NAME = /^[\w$-]{1,64}$/;
const MAX_PATH_LENGTH = 200;

/**
 * Returns a reader that reports why it refuses a record.
 * @param unusable the refusal if code of the application throws: the text of the error may contain a value
 */
export function reporting(
  unusable: string,
  read: (json: object) => UserRecord | Refusal,
): ReadUser<UserRecord> {
  const tryRead = (json: object): UserRecord | Refusal => {
    try {
      return read(json);
    } catch {
      return ['', unusable];
    }
  };
  return (json, report) => {
    const user = tryRead(json);
    if (!isRefusal(user)) return user;
    const [path, requirement] = user;
    report?.(path, `${path || 'the record'} ${requirement}`);
    return undefined;
  };
}

function isRefusal(read: UserRecord | Refusal): read is Refusal {
  return Array.isArray(read);
}

export function pathOf(path: readonly (PropertyKey | { readonly key: PropertyKey })[] = []): string {
  const names = path.map((step) => String(typeof step === 'object' ? step.key : step));
  return names
    .map((name) => (FIELD_NAME.test(name) ? name : '*'))
    .join('.')
    .slice(0, MAX_PATH_LENGTH);
}
