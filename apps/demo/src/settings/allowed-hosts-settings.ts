import { hostOf } from '../serving/allowed-hosts.js';
import { StartError } from './start-error.js';

/**
 * Reads DEMO_ALLOWED_HOSTS: names that the demo answers to beside localhost, IP addresses and HOST, separated by commas; one
 * that begins with a dot stands for every name that ends with it.
 *
 * @param host - where the demo listens
 */
export function readAllowedHosts({ DEMO_ALLOWED_HOSTS: list = '' }: NodeJS.ProcessEnv, host: string): readonly string[] {
  const names = list.split(',').map((name) => name.trim());
  return [host.toLowerCase(), ...names.filter((name) => name !== '').map(readName)];
}

function readName(text: string): string {
  const name = text.startsWith('.') ? text.slice(1) : text;
  const host = name.includes(':') ? undefined : hostOf(name);
  if (host !== undefined) return text.startsWith('.') ? `.${host}` : host;
  throw new StartError(
    `DEMO_ALLOWED_HOSTS must be host names without scheme and port, separated by commas, such as "demo.example.com,.app.github.dev", but has "${text}".`,
  );
}
