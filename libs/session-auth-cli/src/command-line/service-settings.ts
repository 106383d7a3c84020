import { isHeaderValue, MAX_API_KEY_LENGTH } from '../../../session-auth/src/contract/wire.js';
import type { Account, ServiceSettings } from '../calls/service-client.js';
import { type CommandIo, type OptionSpecs, type OptionValues, UsageError } from './command-line.js';

export const SERVICE_OPTIONS = {
  url: {
    type: 'string',
    value: 'URL',
    about: 'root of the session service, without /authentication (required)',
  },
  timeout: { type: 'string', value: 'MS', about: 'milliseconds for each call, 1 to 300000 (default 10000)' },
  json: { type: 'boolean', about: 'prints JSON' },
} as const satisfies OptionSpecs;

const MAX_TIMEOUT_MS = 300_000;

/** @throws UsageError */
export function readServiceSettings(
  { url, timeout }: OptionValues<typeof SERVICE_OPTIONS>,
  { env, interrupted }: CommandIo,
): ServiceSettings {
  return {
    url: readServiceUrl(url),
    apiKey: readApiKey(env),
    timeoutMs: readTimeoutMs(timeout),
    interrupted,
  };
}

/** Reads the user of an option, whose password is in the environment. @throws UsageError that names no value */
export function readAccount(
  option: string,
  username: string | undefined,
  variable: string,
  { env: { [variable]: password } }: CommandIo,
): Account | undefined {
  if (username === undefined) return undefined;
  if (username === '') throw new UsageError(`--${option} must be the name of a user.`);
  if (!password) throw new UsageError(`Set ${variable} to the password of --${option}.`);
  return { username, password };
}

/** As the option `baseUrl` is validated. Without a trailing slash. */
function readServiceUrl(value = ''): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new UsageError('Set --url to the root of the session service: an http or https URL.');
  if (url.username !== '' || url.password !== '' || /[?#]/.test(value))
    throw new UsageError('--url must not hold a user, a password, a query or a fragment.');
  const root = `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  if (/\/authentication(?:\/user_details)?$/.test(root))
    throw new UsageError('--url must end before /authentication.');
  return root;
}

function readApiKey({ SESSION_SERVICE_API_KEY: apiKey }: CommandIo['env']): string {
  if (isHeaderValue(apiKey, MAX_API_KEY_LENGTH)) return apiKey;
  throw new UsageError(
    `Set SESSION_SERVICE_API_KEY to the application key: 1 to ${MAX_API_KEY_LENGTH} visible ASCII characters.`,
  );
}

function readTimeoutMs(value = '10000'): number {
  const ms = /^\d{1,6}$/.test(value) ? Number(value) : 0;
  if (ms < 1 || ms > MAX_TIMEOUT_MS)
    throw new UsageError('--timeout must be a number of milliseconds from 1 to 300000.');
  return ms;
}
