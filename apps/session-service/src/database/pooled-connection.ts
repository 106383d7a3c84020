import { type PostgresCursor, type PostgresPoolClient, type PostgresQueryResult } from 'kysely';
import { type PoolClient } from 'pg';
import { codeOf, DatabaseUnavailableError, isOutage } from './database-unavailable.error.js';

/**
 * A connection on loan from the pool. After an outage, it refuses further statements and is not returned to
 * the pool, because its next user would have to wait for a late response.
 */
export class PooledConnection implements PostgresPoolClient {
  readonly #client: PoolClient;
  #outage: DatabaseUnavailableError | undefined;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query(sql: unknown, parameters?: readonly unknown[]): unknown {
    if (typeof sql !== 'string') throw new TypeError('Cursors are not supported.');
    return this.#run(sql, [...(parameters ?? [])]);
  }

  release(): void {
    this.#client.release(this.#outage !== undefined);
  }

  async #run(sql: string, parameters: unknown[]): Promise<unknown> {
    if (this.#outage) throw this.#outage;
    try {
      return await this.#client.query(sql, parameters);
    } catch (error) {
      if (!isOutage(error)) throw error;
      throw (this.#outage = new DatabaseUnavailableError(codeOf(error)));
    }
  }
}
