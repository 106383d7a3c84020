import { UsageError } from '../usage-error.js';

/** A user that can sign in to the development service. */
export interface DevUser {
  readonly password: string;
  /** The record of the user, without a token. */
  readonly record: { readonly username: string } & Readonly<Record<string, unknown>>;
}

/** The user of a service that is started without users. */
export const DEFAULT_USER = 'ann:secret:hiring_manager';

/** The other fields of a user that an option names, so that every documented field but the names has a value. */
const SAMPLE_FIELDS = {
  preffered_language: 'en',
  help_checkbox: false,
  benestream_enabled: false,
  client_name: 'Example Client',
  ccl_info: { client_id: 1, company_id: 10, location_id: 100 },
  ats_enabled: true,
  obs_enabled: false,
  display_label: 'Client',
};

/** Reads `NAME:PASSWORD`, `NAME:PASSWORD:ROLE` or `NAME:PASSWORD:ROLE:SUB_ROLE`. */
export function userFromOption(text: string): DevUser {
  const [username, password, role, sub_role, ...rest] = text.split(':');
  if (!username || !password || rest.length > 0) throw new UsageError('--user must be NAME:PASSWORD[:ROLE[:SUB_ROLE]].');
  return { password, record: { username, ...(role && { role }), ...(sub_role && { sub_role }), ...SAMPLE_FIELDS } };
}

/** Reads the users of a JSON file: a list of user records, each with a `password`. */
export function usersFromJson(text: string): DevUser[] {
  const users = parse(text);
  if (!Array.isArray(users)) throw new UsageError('--users must name a file with a JSON array of user records.');
  return users.map(userFromRecord);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The error of the parser quotes the text, which contains passwords.
    throw new UsageError('--users must name a file with valid JSON.');
  }
}

function userFromRecord(value: unknown, index: number): DevUser {
  const { password, ...record } = { ...(value as Readonly<Record<string, unknown>> | null) };
  if (!isText(record.username) || !isText(password)) {
    throw new UsageError(`--users: user ${index + 1} needs a username and a password, both non-empty strings.`);
  }
  return { password, record: { ...record, username: record.username } };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
