import type { UserRecord } from '../contract/record/user-record.js';
import type { CurrentUserRecord } from '../guard/current-user.decorator.js';

/**
 * Fields of a user record, as the session service sends them. `User` is your own record class, if you have
 * one.
 */
export type UserRecordFields<User extends UserRecord = CurrentUserRecord> = {
  readonly [Field in keyof User]?: User[Field] | null;
};

const USER = {
  username: 'test.user',
  first_name: 'Test',
  last_name: 'User',
  email: 'test.user@example.com',
  role: 'hiring_manager',
  sub_role: 'approver',
  preffered_language: 'en',
  help_checkbox: false,
  benestream_enabled: false,
  client_name: 'Example Client',
  ccl_info: { client_id: 1, company_id: 10, location_id: 100 },
  ats_enabled: true,
  obs_enabled: false,
  display_label: 'Client',
};

/**
 * Returns a user record with every field of the interface except the token: a `hiring_manager` and `approver`
 * with `ats_enabled`. `fields` replace or add fields; `null` omits a field.
 */
export function aUserRecord<User extends UserRecord = CurrentUserRecord>(
  fields: UserRecordFields<User> = {},
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries({ ...structuredClone(USER), ...fields }).filter(([, value]) => value !== null),
  );
}
