import type { CommandIo } from '../command-io.js';
import type { CommandLine, OptionSpecs, OptionValues } from '../command-line.js';
import { readApiKey, readServiceUrl, readTimeoutMs } from '../service-settings.js';
import { UsageError } from '../usage-error.js';

const OPTIONS = {
  url: { type: 'string', value: 'URL', about: 'root of the session service, without /authentication (required)' },
  user: { type: 'string', value: 'NAME', about: 'signs in as this user, and out again; without it, only refusals are examined' },
  redis: { type: 'string', value: 'URL', about: 'also examines the Redis of a shared cache, such as redis://user@host:6379' },
  timeout: { type: 'string', value: 'MS', about: 'milliseconds for each call, 1 to 300000 (default 10000)' },
  json: { type: 'boolean', about: 'prints JSON' },
} as const satisfies OptionSpecs;

/** The command line of `doctor`. */
export const COMMAND_LINE = {
  name: 'doctor',
  about:
    'Examines a session service with few calls, and prints the options that follow. Changes nothing but its own sessions,\n' +
    'which it signs out. Prints no key, token, IV or password.',
  options: OPTIONS,
  environment: {
    SESSION_SERVICE_API_KEY: 'the application key (required)',
    SESSION_SERVICE_PASSWORD: 'the password of --user',
    REDIS_PASSWORD: 'the password of the user of --redis',
  },
  exitCodes: ['nothing fails', 'something fails, or the command was interrupted'],
} as const satisfies CommandLine<typeof OPTIONS>;

/** The settings of `doctor`. */
export interface DoctorSettings {
  /** Root of the service, without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly redis: { readonly url: URL; readonly password: string | undefined } | undefined;
  readonly timeoutMs: number;
  readonly json: boolean;
}

/** Validates the options and the environment. @throws UsageError that names the wrong setting, without its value */
export function readSettings(options: OptionValues<typeof OPTIONS>, env: CommandIo['env']): DoctorSettings {
  const { SESSION_SERVICE_PASSWORD: password = '', REDIS_PASSWORD: redisPassword } = env;
  const url = readServiceUrl(options.url);
  const apiKey = readApiKey(env);
  if (options.user !== undefined && password === '') throw new UsageError('Set SESSION_SERVICE_PASSWORD to the password of --user.');
  return {
    url,
    apiKey,
    user: options.user,
    password: options.user === undefined ? undefined : password,
    redis: options.redis === undefined ? undefined : { url: readRedisUrl(options.redis), password: redisPassword },
    timeoutMs: readTimeoutMs(options.timeout),
    json: options.json ?? false,
  };
}

function readRedisUrl(value: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'redis:' && url?.protocol !== 'rediss:') throw new UsageError('--redis must be a redis: or rediss: URL.');
  if (url.password !== '') throw new UsageError('--redis must not hold a password. Set REDIS_PASSWORD.');
  return url;
}
