/** The type of a field of a record. An id is a number. */
export type FieldType = 'string' | 'boolean' | 'id' | 'object';
type Types = Readonly<Record<string, FieldType>>;

const USER_TYPES = {
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
} as const satisfies Types;
const TOKEN_TYPE = { auth_token: 'string' } as const satisfies Types;

/** The types of all fields of a user record. */
export const RECORD_TYPES = { ...USER_TYPES, ...TOKEN_TYPE };
/** The types of the fields of `ccl_info` (section 2.2). */
export const CCL_TYPES = { client_id: 'id', company_id: 'id', location_id: 'id' } as const satisfies Types;

/** The fields of a user record but its token, with their types (section 2.1). */
export const USER_FIELDS = fieldsOf(USER_TYPES);
export const TOKEN_FIELD = fieldsOf(TOKEN_TYPE);
/** The fields of `ccl_info`, with their types. */
export const CCL_FIELDS = fieldsOf(CCL_TYPES);

function fieldsOf(types: Types): readonly (readonly [name: string, type: FieldType])[] {
  return Object.entries(types);
}
