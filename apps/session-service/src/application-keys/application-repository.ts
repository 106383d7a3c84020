import { Injectable } from '@nestjs/common';
import { Kysely } from 'kysely';
import { type Schema } from '../database/schema.js';
import { digestOf } from '../secrets/secret-digest.js';

/** Reads and writes the applications that may call this service. */
@Injectable()
export class ApplicationRepository {
  constructor(private readonly database: Kysely<Schema>) {}

  /** Returns the digests of all application keys. */
  async keyDigests(): Promise<string[]> {
    const rows = await this.database.selectFrom('applications').select('key_digest').execute();
    return rows.map((row) => row.key_digest);
  }

  /** Adds an application, unless its name or its key is taken. Returns whether it was added. */
  async add(name: string, key: string): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await this.database
      .insertInto('applications')
      .values({ name, key_digest: digestOf(key), created_at: Date.now() })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  }
}
