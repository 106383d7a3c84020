import { type Kysely } from 'kysely';
import { ApplicationRepository } from '../application-keys/application-repository.js';
import { type PasswordHashing } from '../passwords/password-hashing.js';
import { digestOf } from '../secrets/secret-digest.js';
import { UserRepository } from '../users/user-repository.js';
import { DEMO_ACCOUNTS, DEMO_API_KEY } from './demo-accounts.js';
import { type Schema } from './schema.js';

/** Returns whether the database contains the demo application, or a demo user with the published password. */
export async function hasDemoAccounts(database: Kysely<Schema>, hashing: PasswordHashing): Promise<boolean> {
  if (isDemo(await new ApplicationRepository(database).keyDigests())) return true;
  const users = new UserRepository(database);
  for (const { profile, password } of DEMO_ACCOUNTS) {
    const user = await users.findByUsername(profile.username);
    if (user && (await hashing.verify(user.password_hash, password).catch(() => false))) return true;
  }
  return false;
}

function isDemo(keyDigests: readonly string[]): boolean {
  return keyDigests.includes(digestOf(DEMO_API_KEY));
}

/** Returns a warning about the database of a service in production, or undefined if there is none. */
export async function adviceForProduction(database: Kysely<Schema>): Promise<string | undefined> {
  const keyDigests = await new ApplicationRepository(database).keyDigests();
  if (isDemo(keyDigests)) {
    return 'This database contains the demo application, whose key is published. Use a new database.';
  }
  if (keyDigests.length === 0) {
    return 'The database contains no application, so every request gets 403. Add one with "node apps/session-service/dist/admin.js add-application NAME" and restart the service.';
  }
  if (await new UserRepository(database).isEmpty()) {
    return 'The database contains no user, so every sign-in gets 401. Add one with "node apps/session-service/dist/admin.js add-user USERNAME".';
  }
  return undefined;
}
