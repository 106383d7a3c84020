import { type Kysely } from 'kysely';
import { type DatabasePlace } from '../database/database-place.js';
import { openDatabase } from '../database/open-database.js';
import { type Schema } from '../database/schema.js';
import { StartError } from '../start-error.js';
import { addApplication } from './add-application.js';
import { addUser } from './add-user.js';
import { readSecret } from './read-secret.js';
import { parseUserArguments } from './user-arguments.js';

/** Usage of the commands. */
export const USAGE = `Usage:
  admin.js add-application NAME           reads the key from APPLICATION_KEY or standard input; without one, creates a key and shows it
  admin.js add-user USERNAME [--role ROLE] [--sub-role SUB_ROLE] [--first-name NAME] [--email EMAIL] [--pending] ...
                                          reads the password from USER_PASSWORD or standard input
The database is DATABASE_URL or, if that is not set, the one in DATA_DIR (default: ./data).`;

/**
 * Runs one command of the administration.
 *
 * @returns a message for the operator
 * @throws StartError for a wrong command or argument
 */
export async function runAdministration(
  args: string[],
  environment: NodeJS.ProcessEnv,
  place: DatabasePlace,
): Promise<string> {
  const [command, ...rest] = args;
  if (command === 'add-application') {
    const [name] = rest;
    if (rest.length !== 1 || !name)
      throw new StartError('add-application needs exactly one NAME; run admin.js without arguments for help');
    const key = await readSecret('APPLICATION_KEY', environment);
    return withDatabase(place, (database) => addApplication(database, name, key));
  }
  if (command === 'add-user') {
    const { profile, pending } = parseUserArguments(rest);
    const password = await readSecret('USER_PASSWORD', environment);
    if (password === undefined)
      throw new StartError('add-user needs a password: set USER_PASSWORD or pass it on standard input');
    return withDatabase(place, (database) => addUser(database, profile, password, pending));
  }
  throw new StartError(`there is no command "${command ?? ''}"; run admin.js without arguments for help`);
}

async function withDatabase<T>(
  place: DatabasePlace,
  use: (database: Kysely<Schema>) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(place);
  try {
    return await use(database);
  } finally {
    await database.destroy();
  }
}
