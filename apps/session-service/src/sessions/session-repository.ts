import { Injectable } from '@nestjs/common';
import { Kysely, type Transaction } from 'kysely';
import { locksRows } from '../database/dialect.js';
import { type Schema, type SessionTable, type UserProfileRow } from '../database/schema.js';
import { PROFILE_COLUMNS } from '../users/profile-columns.js';

/** Sessions that one statement removes, so that no statement holds others up or is given up for its length. */
const PURGE_BATCH = 1000;

/** Reads and writes sessions. A session is known here by the digest of its token only. */
@Injectable()
export class SessionRepository {
  constructor(private readonly database: Kysely<Schema>) {}

  /** Adds a session and ends the user's oldest ones above the bound. */
  async add(session: SessionTable, maxPerUser: number): Promise<void> {
    await this.database.transaction().execute(async (transaction) => {
      await this.holdUser(transaction, session.username);
      const kept = transaction
        .selectFrom('sessions')
        .select('token_digest')
        .where('username', '=', session.username)
        .orderBy('created_at', 'desc')
        .limit(maxPerUser - 1);
      await transaction.deleteFrom('sessions').where('username', '=', session.username).where('token_digest', 'not in', kept).execute();
      await transaction.insertInto('sessions').values(session).execute();
    });
  }

  /** The user of a session that has not expired: one look-up by primary key, joined with the user. */
  findUser(tokenDigest: string, now: number): Promise<UserProfileRow | undefined> {
    return this.database
      .selectFrom('sessions')
      .innerJoin('users', 'users.username', 'sessions.username')
      .select(PROFILE_COLUMNS)
      .where('sessions.token_digest', '=', tokenDigest)
      .where('sessions.expires_at', '>', now)
      .executeTakeFirst();
  }

  /** Ends a session. Tells whether there was one that had not expired. The deletion is on disk when this resolves. */
  async remove(tokenDigest: string, now: number): Promise<boolean> {
    const { numDeletedRows } = await this.database
      .deleteFrom('sessions')
      .where('token_digest', '=', tokenDigest)
      .where('expires_at', '>', now)
      .executeTakeFirstOrThrow();
    return numDeletedRows > 0n;
  }

  /** Ends every session and tells how many that were. */
  async removeAll(): Promise<number> {
    const { numDeletedRows } = await this.database.deleteFrom('sessions').executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }

  /** Removes what has expired and tells how many that were. */
  async removeExpired(now: number): Promise<number> {
    const removed = await this.removeExpiredBatch(now);
    return removed < PURGE_BATCH ? removed : removed + (await this.removeExpired(now));
  }

  private async removeExpiredBatch(now: number): Promise<number> {
    const expired = this.database
      .selectFrom('sessions')
      .select('token_digest')
      .where('expires_at', '<=', now)
      .limit(PURGE_BATCH)
      // Another instance may be at it too: each takes what the other does not.
      .$if(locksRows(this.database), (query) => query.forUpdate().skipLocked());
    const { numDeletedRows } = await this.database.deleteFrom('sessions').where('token_digest', 'in', expired).executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }

  /** Makes sign-ins of one user wait for each other, on whatever instance: else each counts the sessions without the other's. */
  private async holdUser(transaction: Transaction<Schema>, username: string): Promise<void> {
    if (!locksRows(transaction)) return;
    await transaction.selectFrom('users').select('username').where('username', '=', username).forNoKeyUpdate().execute();
  }
}
