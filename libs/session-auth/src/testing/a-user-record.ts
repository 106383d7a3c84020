import type { UserRecord } from '../contract/record/user-record.js';

/** Fields of a user record, as the session service sends them. */
export type UserRecordFields = { readonly [Field in keyof UserRecord]?: UserRecord[Field] | null };

const USER: UserRecordFields = {
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

/** Returns a user record with every field of the interface except the token. `fields` replace or add fields; `null` omits a field. */
export function aUserRecord(fields: UserRecordFields & Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...structuredClone(USER), ...fields }).filter(([, value]) => value !== null));
}
