import type { CommandLine, OptionSpecs } from '../command-line.js';

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
