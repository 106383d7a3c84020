import { text } from 'node:stream/consumers';
import { StartError } from '../start-error.js';

/**
 * Reads a secret from an environment variable or, when that is not set, from what is piped into the command. Never from
 * the arguments: those can be seen by every user of the machine.
 *
 * @returns the secret, or undefined when neither holds one
 */
export async function readSecret(variable: string, environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  const secret = environment[variable] ?? (process.stdin.isTTY ? '' : await text(process.stdin)).replace(/\r?\n$/, '');
  if (/[\r\n]/.test(secret)) throw new StartError('the secret must be a single line');
  return secret === '' ? undefined : secret;
}
