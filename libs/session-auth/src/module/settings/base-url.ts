import { invalidOption } from './option-checks.js';

const EXAMPLE = 'Give it the root of the session service, for example https://sessions.example.com/api';

/** The root of the service without its trailing slash, fit to have a path of the interface put behind it. */
export function readBaseUrl(value: unknown): string {
  if (value === undefined || value === '') return invalidOption('baseUrl', 'is missing', EXAMPLE);
  const url = parse(value);
  if (!url) return invalidOption('baseUrl', 'is not an absolute URL', EXAMPLE);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return invalidOption('baseUrl', 'must start with http:// or https://', EXAMPLE);
  if (url.username !== '' || url.password !== '') return invalidOption('baseUrl', 'must not hold a user or a password', EXAMPLE);
  if (url.href.includes('?') || url.href.includes('#')) return invalidOption('baseUrl', 'must not have a query or a fragment', EXAMPLE);
  if (/\/authentication\/?$/.test(url.pathname)) return invalidOption('baseUrl', 'must not end in /authentication', EXAMPLE);
  return url.href.replace(/\/+$/, '');
}

/** Whether keys and tokens would cross a network unencrypted. */
export function isPlainTextBeyondLoopback(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'http:' && !/^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

function parse(value: unknown): URL | undefined {
  if (value instanceof URL) return value;
  return typeof value === 'string' && value === value.trim() && URL.canParse(value) ? new URL(value) : undefined;
}
