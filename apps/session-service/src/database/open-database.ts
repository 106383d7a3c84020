import { Kysely } from 'kysely';
import { StartError } from '../start-error.js';
import { type DatabasePlace, requirePostgresUrl } from './database-place.js';
import { codeOf, DatabaseUnavailableError } from './database-unavailable.error.js';
import { createDialect } from './dialect.js';
import { migrateToLatest } from './migrations.js';
import { type Schema } from './schema.js';

/** Milliseconds for a statement of a migration, and for another instance to be done with its own. */
const MIGRATION_TIMEOUT_MS = 60_000;

/** What the usual codes mean. Their messages are not shown: they quote parts of the URL. */
const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its address',
  ENOENT: 'a file or socket that it names is missing',
  ENOTFOUND: 'its host is unknown',
  EAI_AGAIN: 'its host cannot be looked up',
  '28P01': 'its server refuses the user or the password',
  '28000': 'its server refuses the user',
  '3D000': 'its server has no such database',
  '42501': 'its user may not create tables in it',
};

/**
 * Opens the database and brings it to the newest schema.
 *
 * @throws StartError in one sentence, without the URL
 */
export async function openDatabase(place: DatabasePlace = {}): Promise<Kysely<Schema>> {
  if (place.databaseUrl !== undefined) requirePostgresUrl(place.databaseUrl);
  try {
    return await (place.databaseUrl === undefined ? openSqlite(place) : openPostgres(place));
  } catch (error) {
    throw new StartError(explain(place, error));
  }
}

async function openSqlite(place: DatabasePlace): Promise<Kysely<Schema>> {
  const database = new Kysely<Schema>({ dialect: createDialect(place) });
  await migrateToLatest(database);
  return database;
}

/** Migrates through connections of their own, as a migration may take longer than a request. */
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
    return `the database in ${dataDir ?? 'memory'} cannot be opened: ${error instanceof Error ? error.message : 'unknown cause'}`;
  }
  return `the database that DATABASE_URL names cannot be opened: ${causeOf(error)}`;
}

function causeOf(error: unknown): string {
  const code = codeOf(error);
  if (code !== undefined) return CAUSES[code] ?? code;
  if (error instanceof DatabaseUnavailableError) return 'it gave no connection, or no answer in time';
  return 'its tables are of another version of this service';
}
