import { StartError } from '../start-error.js';

/** Where the data is: in PostgreSQL when there is a URL, else in SQLite. */
export interface DatabasePlace {
  /** `postgres://user:password@host:port/database`; never shown, as it holds a password. */
  readonly databaseUrl?: string | undefined;
  /** Directory of the SQLite database, created when missing; in memory when absent. */
  readonly dataDir?: string | undefined;
}

/** Refuses what is no URL of a PostgreSQL database, without repeating it. */
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
