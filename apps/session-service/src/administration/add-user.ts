import { type Kysely } from 'kysely';
import { MAX_CREDENTIAL_BYTES } from '../authentication/sign-in.js';
import { type Schema } from '../database/schema.js';
import { Argon2PasswordHashing } from '../passwords/password-hashing.js';
import { StartError } from '../start-error.js';
import { toUserRow, type UserProfile } from '../users/user-record.js';
import { UserRepository } from '../users/user-repository.js';

/** Adds a user. Resolves to a message for the operator. */
export async function addUser(
  database: Kysely<Schema>,
  profile: UserProfile,
  password: string,
  pending: boolean,
): Promise<string> {
  for (const credential of [profile.username, password]) {
    if (Buffer.byteLength(credential) > MAX_CREDENTIAL_BYTES) {
      throw new StartError(
        `the user name and the password must have at most ${MAX_CREDENTIAL_BYTES} bytes each`,
      );
    }
  }
  const row = toUserRow(profile, await new Argon2PasswordHashing().hash(password), pending);
  if (!(await new UserRepository(database).add(row)))
    throw new StartError(`the user name "${profile.username}" is already taken: choose another`);
  return `Added the user "${profile.username}".`;
}
