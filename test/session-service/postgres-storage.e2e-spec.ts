import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type Kysely, type PostgresPoolClient, sql } from 'kysely';
import { DatabaseUnavailableError } from '../../apps/session-service/src/database/database-unavailable.error.js';
import { openDatabase } from '../../apps/session-service/src/database/open-database.js';
import { BoundedPool, MAX_CONNECTIONS } from '../../apps/session-service/src/database/postgres-pool.js';
import { type Schema } from '../../apps/session-service/src/database/schema.js';
import { SessionRepository } from '../../apps/session-service/src/sessions/session-repository.js';
import { toUserRow } from '../../apps/session-service/src/users/user-record.js';
import { UserRepository } from '../../apps/session-service/src/users/user-repository.js';
import { describeWithPostgres, PostgresServer } from '../support/postgres.js';

function granted(outcomes: PromiseSettledResult<PostgresPoolClient>[]): PostgresPoolClient[] {
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
}

describeWithPostgres('the database of two instances, on PostgreSQL', () => {
  let server: PostgresServer;
  let databaseUrl: string;
  let one: Kysely<Schema>;
  let other: Kysely<Schema>;

  beforeAll(async () => {
    server = await PostgresServer.start();
  });

  beforeEach(async () => {
    databaseUrl = await server.createDatabase();
    [one, other] = await Promise.all([openDatabase({ databaseUrl }), openDatabase({ databaseUrl })]);
  });

  afterEach(async () => {
    await Promise.all([one.destroy(), other.destroy()]);
  });

  afterAll(() => server.stop());

  const addUser = (database: Kysely<Schema>, username: string): Promise<boolean> =>
    new UserRepository(database).add(
      toUserRow({ username, ccl_info: { client_id: Number.MAX_SAFE_INTEGER } }, 'hash', false),
    );

  async function addUserWithoutSessions(): Promise<void> {
    await addUser(one, 'ann');
    await one.deleteFrom('sessions').execute();
  }

  const session = (index: number, expiresAt = 2000): Parameters<SessionRepository['add']>[0] => {
    return { token_digest: `digest-${index}`, username: 'ann', created_at: index, expires_at: expiresAt };
  };

  const countSessions = async (): Promise<number> =>
    (await one.selectFrom('sessions').select('token_digest').execute()).length;

  it('keeps the bound of sessions of one user, even if both open many concurrently', async () => {
    await addUserWithoutSessions();
    const repositories = [new SessionRepository(one), new SessionRepository(other)] as const;
    const adding = Array.from({ length: 60 }, (_, index) =>
      repositories[index % 2 === 0 ? 0 : 1].add(session(index), 3),
    );
    const outcomes = await Promise.allSettled(adding);

    // On a slow machine, some get no connection in time.
    const refused = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
    );
    expect(refused.filter((reason) => !(reason instanceof DatabaseUnavailableError))).toEqual([]);
    expect(outcomes.length - refused.length).toBeGreaterThan(3);
    await expect(countSessions()).resolves.toBe(3);
  });

  it('opens ten connections at most, for any number of requests', async () => {
    const processes = await Promise.all(
      Array.from({ length: 60 }, () =>
        sql<{ pid: number }>`select pg_backend_pid() as pid, pg_sleep(0.01)`.execute(one),
      ),
    );

    expect(new Set(processes.flatMap(({ rows }) => rows.map(({ pid }) => pid))).size).toBe(MAX_CONNECTIONS);
  });

  it('loses no connection to requests that gave up while it was made for them', async () => {
    const database = new URL(databaseUrl).pathname.slice(1);
    const pool = new BoundedPool(databaseUrl, 4000);
    const connectAll = (): Promise<PromiseSettledResult<PostgresPoolClient>[]> =>
      Promise.allSettled(Array.from({ length: MAX_CONNECTIONS }, () => pool.connect()));
    const taken = await connectAll();
    // Makes the first query of a new connection take longer than a request waits for it.
    await server.ask(
      `create schema slow; create function slow.current_setting(text) returns text language sql
        as 'select pg_sleep(3.5); select pg_catalog.current_setting($1)';
      alter database ${database} set search_path = slow, pg_catalog, public`,
      databaseUrl,
    );
    const waiting = connectAll();
    await server.ask(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`);
    for (const connection of granted(taken)) {
      await expect(connection.query('select 1', [])).rejects.toThrow(DatabaseUnavailableError);
      connection.release();
    }
    expect(granted(await waiting)).toHaveLength(0);

    await server.ask(`alter database ${database} reset search_path`);
    for (let free = 0; free < MAX_CONNECTIONS;) {
      const connections = granted(await connectAll());
      free = connections.length;
      for (const connection of connections) connection.release();
    }
    await pool.end();
  });
});
