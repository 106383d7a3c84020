import type { UserRecord, UserRecordClass } from './user-record.js';

/** A record class that keeps `auth_token` where no enumeration, serialisation or inspection looks. */
export interface HiddenTokenClass<User extends UserRecord> {
  readonly record: UserRecordClass<User>;
  readonly hideToken: (user: object, token: string | undefined) => void;
}

/** Derives such a class. Its instances are instances of `record`, and `auth_token` can be read on them. */
export function withHiddenToken<User extends UserRecord>(record: UserRecordClass<User>): HiddenTokenClass<User> {
  const derived = class extends (record as UserRecordClass) {
    #token: string | undefined;

    static hideToken(user: object, token: string | undefined): void {
      if (#token in user) user.#token = token;
    }

    static tokenOf(user: object): string | undefined {
      return #token in user ? user.#token : undefined;
    }
  };
  const token: PropertyDescriptor & ThisType<object> = {
    get() {
      return derived.tokenOf(this);
    },
  };
  Object.defineProperty(derived.prototype, 'auth_token', token);
  Object.defineProperty(derived, 'name', { value: record.name });
  return { record: derived as unknown as UserRecordClass<User>, hideToken: (user, value) => derived.hideToken(user, value) };
}
