import { type Kysely, type Migration, type MigrationProvider, Migrator } from 'kysely';
import { type Schema } from './schema.js';

const applicationsUsersAndSessions: Migration = {
  async up(database: Kysely<unknown>) {
    await database.schema
      .createTable('applications')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('key_digest', 'text', (column) => column.notNull().unique())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();
    await database.schema
      .createTable('users')
      .addColumn('username', 'text', (column) => column.primaryKey())
      .addColumn('password_hash', 'text', (column) => column.notNull())
      .addColumn('pending', 'integer', (column) => column.notNull())
      .addColumn('first_name', 'text')
      .addColumn('last_name', 'text')
      .addColumn('email', 'text')
      .addColumn('role', 'text')
      .addColumn('sub_role', 'text')
      .addColumn('preffered_language', 'text')
      .addColumn('help_checkbox', 'integer')
      .addColumn('benestream_enabled', 'integer')
      .addColumn('client_name', 'text')
      .addColumn('client_id', 'bigint')
      .addColumn('company_id', 'bigint')
      .addColumn('location_id', 'bigint')
      .addColumn('ats_enabled', 'integer')
      .addColumn('obs_enabled', 'integer')
      .addColumn('display_label', 'text')
      .execute();
    await database.schema
      .createTable('sessions')
      .addColumn('token_digest', 'text', (column) => column.primaryKey())
      .addColumn('username', 'text', (column) =>
        column.notNull().references('users.username').onDelete('cascade'),
      )
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute();
    await database.schema
      .createIndex('sessions_of_user')
      .on('sessions')
      .columns(['username', 'created_at'])
      .execute();
    await database.schema.createIndex('sessions_by_expiry').on('sessions').column('expires_at').execute();
  },
};

const provider: MigrationProvider = {
  getMigrations: () =>
    Promise.resolve({ '0001-applications-users-and-sessions': applicationsUsersAndSessions }),
};

/** Migrates the database to the latest schema. Never edit a released migration: add a new entry above. */
export async function migrateToLatest(database: Kysely<Schema>): Promise<void> {
  const { error } = await new Migrator({ db: database, provider }).migrateToLatest();
  if (error !== undefined)
    throw error instanceof Error ? error : new Error('The migration of the database failed.');
}
