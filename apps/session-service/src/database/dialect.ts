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

/** Time limit of PostgreSQL for one statement of a request, in milliseconds. */
const STATEMENT_TIMEOUT_MS = 4000;

/**
 * Creates the dialect of the database. Only this file depends on the database engine.
 *
 * @param statementTimeoutMs - for PostgreSQL only; SQLite runs in this process
 */
export function createDialect(
  { databaseUrl, dataDir }: DatabasePlace,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
): Dialect {
  if (databaseUrl === undefined) return createSqliteDialect(dataDir);
  return new PostgresDialect({ pool: new BoundedPool(databaseUrl, statementTimeoutMs) });
}

/**
 * Returns whether a transaction can lock a row. SQLite has no row locks and needs none, as it has one writer
 * at a time.
 */
export function locksRows(database: Kysely<Schema>): boolean {
  return database.getExecutor().adapter instanceof PostgresAdapter;
}

/**
 * `synchronous = FULL` makes a commit wait for the disk, so that a confirmed sign-out survives a crash of the
 * machine.
 */
function createSqliteDialect(dataDir: string | undefined): Dialect {
  const database = new Database(dataDir === undefined ? ':memory:' : databaseFileIn(dataDir));
  for (const setting of [
    'journal_mode = WAL',
    'synchronous = FULL',
    'foreign_keys = ON',
    'busy_timeout = 5000',
  ]) {
    database.pragma(setting);
  }
  return new SqliteDialect({ database: withStatementCache(database) });
}

function databaseFileIn(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return join(dataDir, DATABASE_FILE);
}
