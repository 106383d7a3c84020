import { Kysely, sql } from 'kysely';
import { StartError } from '../start-error.js';
import { type DatabasePlace, requirePostgresUrl } from './database-place.js';
import { codeOf, DatabaseUnavailableError } from './database-unavailable.error.js';
import { createDialect } from './dialect.js';
import { migrateToLatest } from './migrations.js';
import { type Schema } from './schema.js';

/**
 * Time limit of a migration statement, including the wait for the migration of another instance, in
 * milliseconds.
 */
const MIGRATION_TIMEOUT_MS = 60_000;

/**
 * Explanations of the usual codes. The messages of the errors are not shown, because they quote parts of the
 * URL.
 */
const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its address; start the server or correct the address',
  ENOENT: 'a file or socket that it names does not exist',
  ENOTFOUND: 'its host is unknown',
  EAI_AGAIN: 'the look-up of its host failed',
  '28P01': 'the server refuses the user or the password',
  '28000': 'the server refuses the user',
  '3D000': 'the server has no such database',
  '42501': 'the user may not create tables in the database',
};

/**
 * Opens the database and migrates it to the latest schema.
 *
 * @throws StartError with one sentence, without the URL
 */
export async function openDatabase(place: DatabasePlace = {}): Promise<Kysely<Schema>> {
  if (place.databaseUrl !== undefined) requirePostgresUrl(place.databaseUrl);
  try {
    return await (place.databaseUrl === undefined ? openSqlite(place) : openPostgres(place));
  } catch (error) {
    throw new StartError(explain(place, error));
  }
}

/**
 * Migrates in a transaction, which Kysely does not do for SQLite: a process that ends meanwhile must not
 * leave some of the tables.
 */
async function openSqlite(place: DatabasePlace): Promise<Kysely<Schema>> {
  const database = new Kysely<Schema>({ dialect: createDialect(place) });
  await sql`begin immediate`.execute(database);
  try {
    await migrateToLatest(database);
  } catch (error) {
    await sql`rollback`.execute(database);
    throw error;
  }
  await sql`commit`.execute(database);
  return database;
}

/** Migrates over separate connections, because a migration may take longer than a request. */
async function openPostgres(place: DatabasePlace): Promise<Kysely<Schema>> {
  const migrating = new Kysely<Schema>({ dialect: createDialect(place, MIGRATION_TIMEOUT_MS) });
  try {
    await migrateToLatest(migrating);
  } finally {
    await migrating.destroy();
  }
  return new Kysely<Schema>({ dialect: createDialect(place) });
}

function explain({ databaseUrl, dataDir }: DatabasePlace, error: unknown): string {
  if (databaseUrl === undefined) {
    return `the database in ${dataDir ?? 'memory'} cannot be opened: ${error instanceof Error ? error.message : 'unknown error'}`;
  }
  return `the database that DATABASE_URL names cannot be opened: ${causeOf(error)}`;
}

function causeOf(error: unknown): string {
  const code = codeOf(error);
  if (code !== undefined) return CAUSES[code] ?? code;
  if (error instanceof DatabaseUnavailableError) return 'the server did not respond in time';
  return 'its tables belong to another version of this service; use that version or an empty database';
}
