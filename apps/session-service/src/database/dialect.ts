import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Dialect, SqliteDialect } from 'kysely';
import Database from 'libsql';
import { withStatementCache } from './statement-cache.js';

/** Name of the database file inside the data directory. */
export const DATABASE_FILE = 'session-service.db';

/**
 * The only place that knows which database engine is used. Another engine is another Kysely dialect here, and its column
 * types in the migrations.
 *
 * `synchronous = FULL` makes a commit wait for the disk: a sign-out that was answered survives a crash of the machine.
 */
export function createDialect(dataDir: string | undefined): Dialect {
  const database = new Database(dataDir === undefined ? ':memory:' : databaseFileIn(dataDir));
  for (const setting of ['journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON', 'busy_timeout = 5000']) {
    database.pragma(setting);
  }
  return new SqliteDialect({ database: withStatementCache(database) });
}

function databaseFileIn(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return join(dataDir, DATABASE_FILE);
}
