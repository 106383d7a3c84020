import { type Kysely } from 'kysely';
import { ApplicationRepository } from '../application-keys/application-repository.js';
import { digestOf } from '../secrets/secret-digest.js';
import { UserRepository } from '../users/user-repository.js';
import { DEMO_API_KEY } from './demo-accounts.js';
import { type Schema } from './schema.js';

/** What the operator should know about the database of a service in production: one sentence, or undefined if all is well. */
export async function adviceForProduction(database: Kysely<Schema>): Promise<string | undefined> {
  const keyDigests = await new ApplicationRepository(database).keyDigests();
  if (keyDigests.includes(digestOf(DEMO_API_KEY))) {
    return 'This database holds the demo application, whose key is published. Start with a new database.';
  }
  if (keyDigests.length === 0) {
    return 'No application is known, so every request will be refused. Add one with "node apps/session-service/dist/admin.js add-application NAME" and start again.';
  }
  if (await new UserRepository(database).isEmpty()) {
    return 'No user is known, so nobody can sign in. Add one with "node apps/session-service/dist/admin.js add-user USERNAME".';
  }
  return undefined;
}
