import type { UserRecord } from '../contract/record/user-record.js';

/** Fields of a user's record, as the session service sends them. */
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

/** A user's record with every field that the interface names, but its token. Name what your test is about; `null` leaves a field out. */
export function aUserRecord(fields: UserRecordFields & Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...structuredClone(USER), ...fields }).filter(([, value]) => value !== null));
}
