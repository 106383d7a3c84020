import { text } from 'node:stream/consumers';
import { StartError } from '../start-error.js';

/**
 * Reads a secret from an environment variable or, if that is not set, from standard input. Never from the
 * arguments, which every user of the machine can see.
 *
 * @returns the secret, or undefined if there is none
 */
export async function readSecret(
  variable: string,
  environment: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const secret =
    environment[variable] ?? (process.stdin.isTTY ? '' : await text(process.stdin)).replace(/\r?\n$/, '');
  if (/[\r\n]/.test(secret)) throw new StartError('the secret must be a single line');
  return secret === '' ? undefined : secret;
}
