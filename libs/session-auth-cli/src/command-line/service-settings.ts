import { isHeaderValue, MAX_API_KEY_LENGTH } from '../../../session-auth/src/contract/wire.js';
import { type CommandIo, UsageError } from './command-io.js';

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 300_000;

/**
 * Reads `--url` as the option `baseUrl` is validated: the root of the service, without a trailing slash.
 * @throws UsageError
 */
export function readServiceUrl(value = ''): string {
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

export function readApiKey({ SESSION_SERVICE_API_KEY: apiKey }: CommandIo['env']): string {
  if (isHeaderValue(apiKey, MAX_API_KEY_LENGTH)) return apiKey;
  throw new UsageError(
    `Set SESSION_SERVICE_API_KEY to the application key: 1 to ${MAX_API_KEY_LENGTH} visible ASCII characters.`,
  );
}

/** Reads `--timeout`: milliseconds for each call. @throws UsageError */
export function readTimeoutMs(value: string | undefined): number {
  if (value === undefined) return DEFAULT_TIMEOUT_MS;
  const ms = /^\d{1,6}$/.test(value) ? Number(value) : 0;
  if (ms < 1 || ms > MAX_TIMEOUT_MS)
    throw new UsageError('--timeout must be a number of milliseconds from 1 to 300000.');
  return ms;
}
