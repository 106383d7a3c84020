import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Dialect, type Kysely, PostgresAdapter, PostgresDialect, SqliteDialect } from 'kysely';
import Database from 'libsql';
import { type DatabasePlace } from './database-place.js';
import { BoundedPool } from './postgres-pool.js';
import { type Schema } from './schema.js';
import { withStatementCache } from './statement-cache.js';

/** Name of the SQLite database inside the data directory. */
export const DATABASE_FILE = 'session-service.db';

/** Milliseconds that PostgreSQL may work at one statement of a request. */
const STATEMENT_TIMEOUT_MS = 4000;

/**
 * The only place that knows which database engines there are, and how they differ.
 *
 * @param statementTimeoutMs - for PostgreSQL; SQLite answers from this process
 */
export function createDialect({ databaseUrl, dataDir }: DatabasePlace, statementTimeoutMs = STATEMENT_TIMEOUT_MS): Dialect {
  if (databaseUrl === undefined) return createSqliteDialect(dataDir);
  return new PostgresDialect({ pool: new BoundedPool(databaseUrl, statementTimeoutMs) });
}

/** Whether a transaction can lock a row. SQLite has one writer at a time, and so neither needs nor knows such locks. */
export function locksRows(database: Kysely<Schema>): boolean {
  return database.getExecutor().adapter instanceof PostgresAdapter;
}

/** `synchronous = FULL` makes a commit wait for the disk: a sign-out that was answered survives a crash of the machine. */
function createSqliteDialect(dataDir: string | undefined): Dialect {
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
