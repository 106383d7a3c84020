import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Kysely } from 'kysely';
import { ApplicationRepository } from '../application-keys/application-repository.js';
import { toUserRow } from '../users/user-record.js';
import { UserRepository } from '../users/user-repository.js';
import { seedDemoAccounts } from './seed-demo-accounts.js';
import { Argon2PasswordHashing } from '../passwords/password-hashing.js';
import { DEMO_API_KEY } from './demo-accounts.js';
import { adviceForProduction, hasDemoAccounts } from './first-start-advice.js';
import { openDatabase } from './open-database.js';
import { type Schema } from './schema.js';

describe('the advice for a first start', () => {
  let database: Kysely<Schema>;

  beforeEach(async () => {
    database = await openDatabase();
  });

  afterEach(() => database.destroy());

  it('says how to add an application, then how to add a user, then nothing', async () => {
    await expect(adviceForProduction(database)).resolves.toContain('add-application');
    await new ApplicationRepository(database).add('openings', 'a-key-of-its-own');
    await expect(adviceForProduction(database)).resolves.toContain('add-user');
    await new UserRepository(database).add(toUserRow({ username: 'ann' }, 'hash', false));
    await expect(adviceForProduction(database)).resolves.toBeUndefined();
  });

  it('warns of a database that holds the demo application', async () => {
    await new ApplicationRepository(database).add('demo', DEMO_API_KEY);
    await expect(adviceForProduction(database)).resolves.toContain('demo application');
  });

  const hashing = new Argon2PasswordHashing();

  it('knows demo accounts while the demo application or a demo user with the published password is in it [P47]', async () => {
    await seedDemoAccounts(database, hashing);
    await expect(hasDemoAccounts(database, hashing)).resolves.toBe(true);
    await database.deleteFrom('applications').execute();
    await expect(hasDemoAccounts(database, hashing)).resolves.toBe(true);
  });

  it('knows none if the users have passwords of their own, whatever their names [P47]', async () => {
    const users = new UserRepository(database);
    await users.add(toUserRow({ username: 'manager' }, await hashing.hash('of-its-own'), false));
    await users.add(toUserRow({ username: 'newhire' }, 'not a hash', false));
    await expect(hasDemoAccounts(database, hashing)).resolves.toBe(false);
  });
});
