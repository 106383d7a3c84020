import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Kysely, sql } from 'kysely';
import Database from 'libsql';
import { DATABASE_FILE } from './dialect.js';
import { openDatabase } from './open-database.js';
import { type Schema } from './schema.js';

describe('the database on disk', () => {
  let directory: string;
  let database: Kysely<Schema>;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'session-service-'));
    database = await openDatabase({ dataDir: join(directory, 'made', 'when missing') });
  });

  afterEach(async () => {
    await database.destroy();
    await rm(directory, { recursive: true, force: true });
  });

  it('answers a change only when the disk has it', async () => {
    const settings = [
      await sql`pragma synchronous`.execute(database),
      await sql`pragma journal_mode`.execute(database),
    ];

    expect(settings.flatMap(({ rows }) => rows)).toEqual([{ synchronous: 2 }, { journal_mode: 'wal' }]);
  });

  it('is opened again after a first start that ended before all tables were created', async () => {
    const dataDir = join(directory, 'interrupted');
    await mkdir(dataDir);
    const file = new Database(join(dataDir, DATABASE_FILE));
    // The first start fails at this table, after others.
    file.exec('create table sessions (other text)');
    await expect(openDatabase({ dataDir })).rejects.toThrow('already exists');
    file.exec('drop table sessions');
    file.close();

    const opened = await openDatabase({ dataDir });
    await expect(opened.selectFrom('sessions').select('token_digest').execute()).resolves.toEqual([]);
    await opened.destroy();
  });
});
