import { randomBytes } from 'node:crypto';
import { type Kysely } from 'kysely';
import { ApplicationRepository } from '../application-keys/application-repository.js';
import { type Schema } from '../database/schema.js';
import { StartError } from '../start-error.js';

const MIN_KEY_LENGTH = 16;

/**
 * Adds an application and tells what to do next.
 *
 * @param chosenKey - its key; absent: a new random one, which is shown this once
 */
export async function addApplication(database: Kysely<Schema>, name: string, chosenKey: string | undefined): Promise<string> {
  if (chosenKey !== undefined && (chosenKey.length < MIN_KEY_LENGTH || !/^[\x21-\x7e]+$/.test(chosenKey))) {
    throw new StartError(`an application key has at least ${MIN_KEY_LENGTH} characters, all visible ASCII without spaces`);
  }
  const key = chosenKey ?? randomBytes(32).toString('base64url');
  if (!(await new ApplicationRepository(database).add(name, key))) throw new StartError(`the name "${name}" or the key is taken already`);
  const shown = chosenKey === undefined ? ` Its key, shown only now: ${key}` : '';
  return `Added the application "${name}". A running service knows it after a restart.${shown}`;
}
