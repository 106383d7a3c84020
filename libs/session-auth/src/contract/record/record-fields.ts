import type { CclInfo, UserRecord } from './user-record.js';

/** The type of a field of a record. An id is a number. */
export type FieldType = 'string' | 'boolean' | 'id' | 'object';

/** The fields of a user record but its token, with their types (section 2.1). */
export const USER_FIELDS = typesOf<Omit<UserRecord, 'auth_token'>>({
  username: 'string',
  first_name: 'string',
  last_name: 'string',
  email: 'string',
  role: 'string',
  sub_role: 'string',
  preffered_language: 'string',
  help_checkbox: 'boolean',
  benestream_enabled: 'boolean',
  client_name: 'string',
  ccl_info: 'object',
  ats_enabled: 'boolean',
  obs_enabled: 'boolean',
  display_label: 'string',
});
/** The fields of `ccl_info` (section 2.2). */
export const CCL_FIELDS = typesOf<CclInfo>({ client_id: 'id', company_id: 'id', location_id: 'id' });
export const TOKEN_FIELD = typesOf<Pick<UserRecord, 'auth_token'>>({ auth_token: 'string' });

function typesOf<Owner>(
  types: Readonly<Record<keyof Owner & string, FieldType>>,
): readonly (readonly [name: string, type: FieldType])[] {
  return Object.entries<FieldType>(types);
}
