import { StartError } from '../start-error.js';

/** The place of the data: PostgreSQL if there is a URL, otherwise SQLite. */
export interface DatabasePlace {
  /** `postgres://user:password@host:port/database`; never shown, because it contains a password. */
  readonly databaseUrl?: string | undefined;
  /** Directory of the SQLite database, created if it does not exist. If absent, the database is in memory. */
  readonly dataDir?: string | undefined;
}

/** Throws a StartError, without the value, unless it is the URL of a PostgreSQL database. */
export function requirePostgresUrl(databaseUrl: string): void {
  if (!isPostgresUrl(databaseUrl)) {
    throw new StartError(
      'DATABASE_URL must be a URL of the form postgres://user:password@host:port/database, with special characters percent-encoded',
    );
  }
}

function isPostgresUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, pathname } = new URL(text);
  return /^postgres(ql)?:$/.test(protocol) && [username, password, pathname].every(canBeDecoded);
}

function canBeDecoded(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
