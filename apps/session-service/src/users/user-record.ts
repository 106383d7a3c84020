import { type NewUserRow, type UserProfileRow } from '../database/schema.js';

/** Client, company and location identifiers (interface, 2.2). */
export interface CclInfo {
  readonly client_id?: number;
  readonly company_id?: number;
  readonly location_id?: number;
}

/** The user record (interface, 2.1) without the token. A field without a value is absent. */
export interface UserProfile {
  readonly username: string;
  readonly first_name?: string;
  readonly last_name?: string;
  readonly email?: string;
  readonly role?: string;
  readonly sub_role?: string;
  readonly preffered_language?: string;
  readonly help_checkbox?: boolean;
  readonly benestream_enabled?: boolean;
  readonly client_name?: string;
  readonly ccl_info?: CclInfo;
  readonly ats_enabled?: boolean;
  readonly obs_enabled?: boolean;
  readonly display_label?: string;
}

/** The response body of a successful sign-in and of user_details (interface, 2.1). */
export interface UserRecord extends UserProfile {
  readonly auth_token: string;
}

/** Returns the user record of a row, with the token of the session. */
export function toUserRecord(row: UserProfileRow, authToken: string): UserRecord {
  const cclInfo = withoutAbsent({
    client_id: row.client_id,
    company_id: row.company_id,
    location_id: row.location_id,
  });
  return withoutAbsent({
    username: row.username,
    first_name: row.first_name,
    last_name: row.last_name,
    email: row.email,
    role: row.role,
    sub_role: row.sub_role,
    auth_token: authToken,
    preffered_language: row.preffered_language,
    help_checkbox: toFlag(row.help_checkbox),
    benestream_enabled: toFlag(row.benestream_enabled),
    client_name: row.client_name,
    ccl_info: Object.keys(cclInfo).length > 0 ? cclInfo : null,
    ats_enabled: toFlag(row.ats_enabled),
    obs_enabled: toFlag(row.obs_enabled),
    display_label: row.display_label,
  });
}

/** Returns the row of a profile. */
export function toUserRow(profile: UserProfile, passwordHash: string, pending: boolean): NewUserRow {
  const {
    ccl_info: cclInfo,
    help_checkbox,
    benestream_enabled,
    ats_enabled,
    obs_enabled,
    ...texts
  } = profile;
  return {
    ...texts,
    ...cclInfo,
    help_checkbox: fromFlag(help_checkbox),
    benestream_enabled: fromFlag(benestream_enabled),
    ats_enabled: fromFlag(ats_enabled),
    obs_enabled: fromFlag(obs_enabled),
    password_hash: passwordHash,
    pending: Number(pending),
  };
}

type WithoutAbsent<T> = { [Key in keyof T as null extends T[Key] ? never : Key]: T[Key] } & {
  [Key in keyof T as null extends T[Key] ? Key : never]?: NonNullable<T[Key]>;
};

function withoutAbsent<T extends object>(fields: T): WithoutAbsent<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as WithoutAbsent<T>;
}

function toFlag(value: number | null): boolean | null {
  return value === null ? null : value !== 0;
}

function fromFlag(value: boolean | undefined): number | null {
  return value === undefined ? null : Number(value);
}
