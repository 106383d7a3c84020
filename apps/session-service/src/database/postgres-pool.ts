import { type PostgresPool, type PostgresPoolClient } from 'kysely';
import { type ClientBase, Pool, TypeOverrides, types } from 'pg';
import { codeOf, DatabaseUnavailableError } from './database-unavailable.error.js';
import { PooledConnection } from './pooled-connection.js';

/** Connections of one instance, at most. */
export const MAX_CONNECTIONS = 10;

/** Requests that wait for a connection; one more is refused. */
const MAX_WAITING = 1000;
const CONNECT_TIMEOUT_MS = 3000;

/** How much longer the answer may take than the statement: after that the server or the network is gone. */
const ANSWER_GRACE_MS = 1000;

/** Whatever the default of the database: a sign-out that was answered survives a crash of the server. */
const COMMITS_WAIT_FOR_THE_DISK =
  "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'";

/** Connections to PostgreSQL: few, and every wait for one of them has an end. */
export class BoundedPool implements PostgresPool {
  readonly #pool: Pool;

  /** @param statementTimeoutMs - after which the server gives a statement up */
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
    this.#outliveBrokenConnections();
  }

  async connect(): Promise<PostgresPoolClient> {
    if (this.#pool.waitingCount >= MAX_WAITING) throw new DatabaseUnavailableError('too many requests wait for it');
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
   * A connection that breaks while no statement runs emits an error, which would end the process if nobody listened. The
   * pool drops the connection by itself, and a transaction meets the loss in its next statement.
   */
  #outliveBrokenConnections(): void {
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }
}

/**
 * The pool waits for what this returns, though its types do not say so. Its other hook, `verify`, loses a connection for
 * ever when the request that it was opened for gives up meanwhile.
 */
function waitForTheDisk(client: ClientBase): unknown {
  return client.query(COMMITS_WAIT_FOR_THE_DISK);
}

/** Whole numbers of 64 bits as numbers: times and identifiers, all of them safe integers. */
function typesAsInSqlite(): TypeOverrides {
  const overrides = new TypeOverrides();
  overrides.setTypeParser(types.builtins.INT8, Number);
  return overrides;
}
