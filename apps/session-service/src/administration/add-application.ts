import { randomBytes } from 'node:crypto';
import { type Kysely } from 'kysely';
import { ApplicationRepository } from '../application-keys/application-repository.js';
import { type Schema } from '../database/schema.js';
import { StartError } from '../start-error.js';

const MIN_KEY_LENGTH = 16;

/**
 * Adds an application. Resolves to a message for the operator.
 *
 * @param chosenKey - its key; if absent, a random key, which only this message shows
 */
export async function addApplication(
  database: Kysely<Schema>,
  name: string,
  chosenKey: string | undefined,
): Promise<string> {
  if (chosenKey !== undefined && (chosenKey.length < MIN_KEY_LENGTH || !/^[\x21-\x7e]+$/.test(chosenKey))) {
    throw new StartError(
      `the application key must have at least ${MIN_KEY_LENGTH} characters, all visible ASCII without spaces`,
    );
  }
  const key = chosenKey ?? randomBytes(32).toString('base64url');
  if (!(await new ApplicationRepository(database).add(name, key)))
    throw new StartError(`the name "${name}" or the key is already taken: choose another`);
  const shown = chosenKey === undefined ? ` Its key, which is not shown again: ${key}` : '';
  return `Added the application "${name}". Restart a running service to use it.${shown}`;
}
