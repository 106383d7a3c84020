import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Kysely } from 'kysely';
import { Argon2PasswordHashing } from '../passwords/password-hashing.js';
import { DEMO_API_KEY } from './demo-accounts.js';
import { openDatabase } from './open-database.js';
import { type Schema } from './schema.js';
import { seedDemoAccounts } from './seed-demo-accounts.js';

class CountingHashing extends Argon2PasswordHashing {
  hashes = 0;

  override hash(password: string): Promise<string> {
    this.hashes += 1;
    return super.hash(password);
  }
}

describe('seedDemoAccounts', () => {
  let database: Kysely<Schema>;

  beforeEach(async () => {
    database = await openDatabase();
  });

  afterEach(() => database.destroy());

  it('adds four users and an application, and nothing the second time', async () => {
    const hashing = new CountingHashing();
    await seedDemoAccounts(database, hashing);
    const before = await everything();
    await seedDemoAccounts(database, hashing);

    expect(await everything()).toEqual(before);
    expect(before.users.map((user) => user.username).sort()).toEqual([
      'manager',
      'newhire',
      'pending',
      'recruiter',
    ]);
    expect(hashing.hashes).toBe(4);
  });

  it('stores neither a password nor the application key', async () => {
    await seedDemoAccounts(database, new CountingHashing());

    const stored = JSON.stringify(await everything());
    expect(stored).not.toContain(DEMO_API_KEY);
    expect(stored).not.toContain('manager-demo');
  });

  async function everything(): Promise<{
    users: { username: string; password_hash: string }[];
    applications: object[];
  }> {
    const users = await database.selectFrom('users').selectAll().orderBy('username').execute();
    return { users, applications: await database.selectFrom('applications').selectAll().execute() };
  }
});
