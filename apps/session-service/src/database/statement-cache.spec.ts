import { describe, expect, it } from '@jest/globals';
import { type SqliteDatabase, type SqliteStatement } from 'kysely';
import { withStatementCache } from './statement-cache.js';

function databaseThatNotes(prepared: string[]): SqliteDatabase {
  const statement: SqliteStatement = {
    reader: true,
    all: () => [],
    run: () => ({ changes: 0, lastInsertRowid: 0 }),
    iterate: () => [].values(),
  };
  return {
    prepare: (sql) => {
      prepared.push(sql);
      return { ...statement };
    },
    close: () => undefined,
  };
}

describe('withStatementCache', () => {
  it('does not grow without bound', () => {
    const prepared: string[] = [];
    const database = withStatementCache(databaseThatNotes(prepared), 1);
    ['select 1', 'select 2', 'select 2', 'select 1'].forEach((sql) => database.prepare(sql));

    expect(prepared).toEqual(['select 1', 'select 2', 'select 2']);
  });
});
