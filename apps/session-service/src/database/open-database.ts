import { Kysely } from 'kysely';
import { StartError } from '../start-error.js';
import { createDialect } from './dialect.js';
import { migrateToLatest } from './migrations.js';
import { type Schema } from './schema.js';

/**
 * Opens the database and brings it to the newest schema.
 *
 * @param dataDir - directory of the database file, created when missing; in memory when absent
 */
export async function openDatabase(dataDir: string | undefined): Promise<Kysely<Schema>> {
  try {
    const database = new Kysely<Schema>({ dialect: createDialect(dataDir) });
    await migrateToLatest(database);
    return database;
  } catch (error) {
    throw new StartError(
      `the database in ${dataDir ?? 'memory'} cannot be opened: ${error instanceof Error ? error.message : 'unknown cause'}`,
    );
  }
}
