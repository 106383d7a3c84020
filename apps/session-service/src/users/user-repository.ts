import { Injectable } from '@nestjs/common';
import { Kysely } from 'kysely';
import { type NewUserRow, type Schema, type UserRow } from '../database/schema.js';

/** Reads and writes users. */
@Injectable()
export class UserRepository {
  constructor(private readonly database: Kysely<Schema>) {}

  /** Returns the user with exactly this user name, if there is one. */
  async findByUsername(username: string): Promise<UserRow | undefined> {
    // PostgreSQL can't store text with a NUL character.
    if (username.includes('\0')) return undefined;
    const row = await this.database
      .selectFrom('users')
      .selectAll()
      .where('username', '=', username)
      .executeTakeFirst();
    // A database may compare text less strictly: letter case, a NUL character, an invalid surrogate.
    return row?.username === username ? row : undefined;
  }

  /** Adds a user, unless the user name is taken. Returns whether it was added. */
  async add(row: NewUserRow): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await this.database
      .insertInto('users')
      .values(row)
      .onConflict((conflict) => conflict.column('username').doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  }

  /** Returns whether there are no users. */
  async isEmpty(): Promise<boolean> {
    return (
      (await this.database.selectFrom('users').select('username').limit(1).executeTakeFirst()) === undefined
    );
  }
}
