import { type PostgresPool, type PostgresPoolClient } from 'kysely';
import { type ClientBase, Pool, TypeOverrides, types } from 'pg';
import { codeOf, DatabaseUnavailableError } from './database-unavailable.error.js';
import { PooledConnection } from './pooled-connection.js';

/** Maximum number of connections of one instance. */
export const MAX_CONNECTIONS = 10;

/** Maximum number of requests that wait for a connection; further ones are refused. */
const MAX_WAITING = 1000;
const CONNECT_TIMEOUT_MS = 3000;

/**
 * Extra time for the response beyond the time limit of the statement; after that, the server or the network
 * is considered down.
 */
const ANSWER_GRACE_MS = 1000;

/** Overrides the default of the database, so that a confirmed sign-out survives a crash of the server. */
const COMMITS_WAIT_FOR_THE_DISK =
  "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'";

/** A small pool of PostgreSQL connections, with a time limit for every wait. */
export class BoundedPool implements PostgresPool {
  readonly #pool: Pool;

  /** @param statementTimeoutMs - after which the server cancels a statement */
  constructor(databaseUrl: string, statementTimeoutMs: number) {
    this.#pool = new Pool({
      connectionString: databaseUrl,
      application_name: 'session-service',
      max: MAX_CONNECTIONS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs + ANSWER_GRACE_MS,
      idle_in_transaction_session_timeout: statementTimeoutMs + ANSWER_GRACE_MS,
      keepAlive: true,
      allowExitOnIdle: true,
      types: typesAsInSqlite(),
      onConnect: waitForTheDisk,
    });
    this.#ignoreErrorsOfIdleConnections();
  }

  async connect(): Promise<PostgresPoolClient> {
    if (this.#pool.waitingCount >= MAX_WAITING)
      throw new DatabaseUnavailableError('too many requests wait for a connection');
    try {
      return new PooledConnection(await this.#pool.connect());
    } catch (error) {
      throw new DatabaseUnavailableError(codeOf(error));
    }
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  /**
   * An idle connection that breaks emits an error, which would end the process without a listener. The pool
   * removes the connection by itself, and the next statement of a transaction fails.
   */
  #ignoreErrorsOfIdleConnections(): void {
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }
}

/**
 * The pool awaits the returned promise, although its types do not say so. Its other hook, `verify`, leaks a
 * connection if the request for which it was opened times out meanwhile.
 */
function waitForTheDisk(client: ClientBase): unknown {
  return client.query(COMMITS_WAIT_FOR_THE_DISK);
}

/** Parses 64-bit integers as numbers: times and identifiers are safe integers. */
function typesAsInSqlite(): TypeOverrides {
  const overrides = new TypeOverrides();
  overrides.setTypeParser(types.builtins.INT8, Number);
  return overrides;
}
