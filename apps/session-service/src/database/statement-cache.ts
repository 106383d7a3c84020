import { type SqliteDatabase, type SqliteStatement } from 'kysely';

/**
 * The same database, which prepares each SQL text once. The service asks a dozen different questions, so the memory of
 * them is small; anything above the bound is prepared each time.
 */
export function withStatementCache(database: SqliteDatabase, maxStatements = 64): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    prepare: (sql) => {
      const known = statements.get(sql);
      if (known) return known;
      const statement = database.prepare(sql);
      if (statements.size < maxStatements) statements.set(sql, statement);
      return statement;
    },
    close: () => {
      statements.clear();
      database.close();
    },
  };
}
