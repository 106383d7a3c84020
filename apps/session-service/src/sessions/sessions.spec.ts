import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Kysely } from 'kysely';
import { openDatabase } from '../database/open-database.js';
import { type Schema } from '../database/schema.js';
import { digestOf } from '../secrets/secret-digest.js';
import { toUserRow } from '../users/user-record.js';
import { UserRepository } from '../users/user-repository.js';
import { Clock } from './clock.js';
import { SessionLimits } from './session-limits.js';
import { SessionRepository } from './session-repository.js';
import { Sessions } from './sessions.js';

class SetClock extends Clock {
  time = 1_000_000;

  now(): number {
    return this.time;
  }
}

describe('Sessions', () => {
  let database: Kysely<Schema>;
  let clock: SetClock;
  let sessions: Sessions;

  beforeEach(async () => {
    database = await openDatabase();
    clock = new SetClock();
    sessions = new Sessions(new SessionRepository(database), clock, new SessionLimits(60_000, 3));
    for (const username of ['ann', 'bob'])
      await new UserRepository(database).add(toUserRow({ username }, 'hash', false));
  });

  afterEach(() => database.destroy());

  it('give a token of 256 bits and keep only its digest', async () => {
    const token = await sessions.open('ann');

    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    const rows = await database.selectFrom('sessions').selectAll().execute();
    expect(rows).toEqual([
      { token_digest: digestOf(token), username: 'ann', created_at: 1_000_000, expires_at: 1_060_000 },
    ]);
  });

  it('refuse a session from the moment it expires', async () => {
    const token = await sessions.open('ann');

    clock.time += 59_999;
    await expect(sessions.findUser(token)).resolves.toMatchObject({ username: 'ann' });
    clock.time += 1;
    await expect(sessions.findUser(token)).resolves.toBeUndefined();
    await expect(sessions.end(token)).resolves.toBe(false);
  });

  it('delete expired sessions and keep the others', async () => {
    await sessions.open('ann');
    clock.time += 30_000;
    const later = await sessions.open('ann');
    clock.time += 30_000;

    await expect(sessions.purgeExpired()).resolves.toBe(1);
    await expect(sessions.findUser(later)).resolves.toMatchObject({ username: 'ann' });
  });

  it('end the oldest session of a user who has too many, and those of no other user', async () => {
    const bobs = await sessions.open('bob');
    const tokens: string[] = [];
    for (let opened = 0; opened < 4; opened += 1) {
      clock.time += 1;
      tokens.push(await sessions.open('ann'));
    }

    const users = await Promise.all([bobs, ...tokens].map((token) => sessions.findUser(token)));
    expect(users.map((user) => user?.username)).toEqual(['bob', undefined, 'ann', 'ann', 'ann']);
  });

  it('keep the newest session even if all began in the same millisecond', async () => {
    let newest = '';
    for (let opened = 0; opened < 10; opened += 1) newest = await sessions.open('ann');

    await expect(sessions.findUser(newest)).resolves.toMatchObject({ username: 'ann' });
  });

  it('never read the password hash along with the user', async () => {
    const user = await sessions.findUser(await sessions.open('ann'));

    expect(user).not.toHaveProperty('password_hash');
  });
});
