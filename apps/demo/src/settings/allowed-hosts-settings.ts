import { hostOf } from '../serving/allowed-hosts.js';
import { StartError } from './start-error.js';

/**
 * Reads DEMO_ALLOWED_HOSTS: the names that the demo answers to besides localhost, IP addresses and HOST,
 * separated by commas. A name that begins with a dot allows every name that ends with it.
 *
 * @param host - the host on which the demo listens
 * @throws StartError for an entry that is not a host name
 */
export function readAllowedHosts(
  { DEMO_ALLOWED_HOSTS: list = '' }: NodeJS.ProcessEnv,
  host: string,
): readonly string[] {
  const names = list.split(',').map((name) => name.trim());
  return [host.toLowerCase(), ...names.filter((name) => name !== '').map(readName)];
}

function readName(text: string): string {
  const name = text.startsWith('.') ? text.slice(1) : text;
  const host = name.includes(':') ? undefined : hostOf(name);
  if (host !== undefined) return text.startsWith('.') ? `.${host}` : host;
  throw new StartError(
    `DEMO_ALLOWED_HOSTS must be host names without scheme and port, separated by commas, such as "demo.example.com,.app.github.dev"; "${text}" is not a host name.`,
  );
}
