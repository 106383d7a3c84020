import { type Kysely } from 'kysely';
import { ApplicationRepository } from '../application-keys/application-repository.js';
import { type PasswordHashing } from '../passwords/password-hashing.js';
import { toUserRow } from '../users/user-record.js';
import { UserRepository } from '../users/user-repository.js';
import { DEMO_ACCOUNTS, DEMO_API_KEY } from './demo-accounts.js';
import { type Schema } from './schema.js';

/** Adds the demo application and the demo users that do not exist yet. Does not change existing ones. */
export async function seedDemoAccounts(database: Kysely<Schema>, hashing: PasswordHashing): Promise<void> {
  const users = new UserRepository(database);
  await new ApplicationRepository(database).add('demo', DEMO_API_KEY);
  for (const { profile, password, pending } of DEMO_ACCOUNTS) {
    if (await users.findByUsername(profile.username)) continue;
    await users.add(toUserRow(profile, await hashing.hash(password), pending));
  }
}
