import { type SqliteDatabase, type SqliteStatement } from 'kysely';

/**
 * Returns a database that prepares each SQL text once. The service has a dozen statements, so the cache is
 * small; statements beyond its bound are prepared each time.
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
