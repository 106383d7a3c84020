/** The columns of the user record, which do not include the password hash. */
export const PROFILE_COLUMNS = [
  'users.username',
  'users.first_name',
  'users.last_name',
  'users.email',
  'users.role',
  'users.sub_role',
  'users.preffered_language',
  'users.help_checkbox',
  'users.benestream_enabled',
  'users.client_name',
  'users.client_id',
  'users.company_id',
  'users.location_id',
  'users.ats_enabled',
  'users.obs_enabled',
  'users.display_label',
] as const;
