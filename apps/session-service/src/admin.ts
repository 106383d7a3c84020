import { runAdministration, USAGE } from './administration/run-administration.js';
import { databasePlaceFrom } from './environment.js';

const commandLine = process.argv.slice(2);

if (commandLine.length === 0) {
  process.stdout.write(`${USAGE}\n`);
} else {
  try {
    process.stdout.write(
      `${await runAdministration(commandLine, process.env, databasePlaceFrom(process.env))}\n`,
    );
  } catch (error) {
    process.stderr.write(
      `session-service admin: ${error instanceof Error ? error.message : 'unknown error'}\n`,
    );
    process.exitCode = 1;
  }
}
