import { Injectable } from '@nestjs/common';
import { Kysely } from 'kysely';
import { type NewUserRow, type Schema, type UserRow } from '../database/schema.js';

/** Reads and writes users. */
@Injectable()
export class UserRepository {
  constructor(private readonly database: Kysely<Schema>) {}

  /** The user of exactly this login name, if there is one. */
  async findByUsername(username: string): Promise<UserRow | undefined> {
    // PostgreSQL has no text with a NUL character, and so no such user.
    if (username.includes('\0')) return undefined;
    const row = await this.database.selectFrom('users').selectAll().where('username', '=', username).executeTakeFirst();
    // A database may compare text more loosely than we do: letter case, a NUL character, an invalid surrogate.
    return row?.username === username ? row : undefined;
  }

  /** Adds a user, unless the login name is taken. Tells whether it was added. */
  async add(row: NewUserRow): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await this.database
      .insertInto('users')
      .values(row)
      .onConflict((conflict) => conflict.column('username').doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  }

  /** Whether the service knows nobody at all. */
  async isEmpty(): Promise<boolean> {
    return (await this.database.selectFrom('users').select('username').limit(1).executeTakeFirst()) === undefined;
  }
}
