import { Injectable } from '@nestjs/common';
import { Kysely, type Transaction } from 'kysely';
import { locksRows } from '../database/dialect.js';
import { type Schema, type SessionTable, type UserProfileRow } from '../database/schema.js';
import { PROFILE_COLUMNS } from '../users/profile-columns.js';

/** Sessions that one statement deletes, so that no statement blocks others or exceeds its time limit. */
const PURGE_BATCH = 1000;

/** Reads and writes sessions. Identifies a session by the digest of its token. */
@Injectable()
export class SessionRepository {
  constructor(private readonly database: Kysely<Schema>) {}

  /** Adds a session and deletes the user's oldest sessions beyond the limit. */
  async add(session: SessionTable, maxPerUser: number): Promise<void> {
    await this.database.transaction().execute(async (transaction) => {
      await this.lockUser(transaction, session.username);
      const kept = transaction
        .selectFrom('sessions')
        .select('token_digest')
        .where('username', '=', session.username)
        .orderBy('created_at', 'desc')
        .limit(maxPerUser - 1);
      await transaction
        .deleteFrom('sessions')
        .where('username', '=', session.username)
        .where('token_digest', 'not in', kept)
        .execute();
      await transaction.insertInto('sessions').values(session).execute();
    });
  }

  /** Returns the user of an unexpired session: one look-up by primary key, joined with the user. */
  findUser(tokenDigest: string, now: number): Promise<UserProfileRow | undefined> {
    return this.database
      .selectFrom('sessions')
      .innerJoin('users', 'users.username', 'sessions.username')
      .select(PROFILE_COLUMNS)
      .where('sessions.token_digest', '=', tokenDigest)
      .where('sessions.expires_at', '>', now)
      .executeTakeFirst();
  }

  /** Deletes a session. Returns whether an unexpired one existed. Resolves when the deletion is on disk. */
  async remove(tokenDigest: string, now: number): Promise<boolean> {
    const { numDeletedRows } = await this.database
      .deleteFrom('sessions')
      .where('token_digest', '=', tokenDigest)
      .where('expires_at', '>', now)
      .executeTakeFirstOrThrow();
    return numDeletedRows > 0n;
  }

  /** Deletes every session. Returns their number. */
  async removeAll(): Promise<number> {
    const { numDeletedRows } = await this.database.deleteFrom('sessions').executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }

  /** Deletes expired sessions. Returns their number. */
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
      // Other instances may delete too: each skips the rows that another has locked.
      .$if(locksRows(this.database), (query) => query.forUpdate().skipLocked());
    const { numDeletedRows } = await this.database
      .deleteFrom('sessions')
      .where('token_digest', 'in', expired)
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }

  /**
   * Serializes the sign-ins of one user across all instances: otherwise each would miss the other's session
   * in its count.
   */
  private async lockUser(transaction: Transaction<Schema>, username: string): Promise<void> {
    if (!locksRows(transaction)) return;
    await transaction
      .selectFrom('users')
      .select('username')
      .where('username', '=', username)
      .forNoKeyUpdate()
      .execute();
  }
}
