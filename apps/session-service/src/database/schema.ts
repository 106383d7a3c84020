import { type Insertable, type Selectable } from 'kysely';

/** An application that may call this service. */
export interface ApplicationTable {
  name: string;
  key_digest: string;
  created_at: number;
}

/** A user, with the fields of the user record. A flag is 0 or 1; a null field is absent from the record. */
export interface UserTable {
  username: string;
  password_hash: string;
  pending: number;
  first_name: string | null;
  last_name: string | null;
  email: string | null;
  role: string | null;
  sub_role: string | null;
  preffered_language: string | null;
  help_checkbox: number | null;
  benestream_enabled: number | null;
  client_name: string | null;
  client_id: number | null;
  company_id: number | null;
  location_id: number | null;
  ats_enabled: number | null;
  obs_enabled: number | null;
  display_label: string | null;
}

/** A signed-in user's session. Times are milliseconds since 1970. */
export interface SessionTable {
  token_digest: string;
  username: string;
  created_at: number;
  expires_at: number;
}

/** All tables of the service. */
export interface Schema {
  applications: ApplicationTable;
  users: UserTable;
  sessions: SessionTable;
}

/** A row of the users table for reading. */
export type UserRow = Selectable<UserTable>;

/** A row of the users table for writing. */
export type NewUserRow = Insertable<UserTable>;

/** A user's row without the columns that never leave the service. */
export type UserProfileRow = Omit<UserRow, 'password_hash' | 'pending'>;
