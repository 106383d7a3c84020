import type { CommandIo } from '../command-line/command-io.js';
import type { CommandLine, OptionSpecs, OptionValues } from '../command-line/command-line.js';
import { readApiKey, readServiceUrl, readTimeoutMs } from '../command-line/service-settings.js';
import { UsageError } from '../command-line/command-io.js';
import type { Account } from '../calls/service-client.js';
import type { ContractClientSettings } from './contract-client.js';

const OPTIONS = {
  url: {
    type: 'string',
    value: 'URL',
    about: 'root of the session service, without /authentication (required)',
  },
  user: {
    type: 'string',
    value: 'NAME',
    about: 'a user to sign in and out; without it, the rows that need one are skipped',
  },
  'second-user': { type: 'string', value: 'NAME', about: 'another user, for the rows about two users' },
  'pending-user': { type: 'string', value: 'NAME', about: 'a user whose sign-in answers 202' },
  'try-wrong-password': {
    type: 'boolean',
    about: 'also runs the rows with a wrong password of --user, which may lock the account',
  },
  junit: { type: 'string', value: 'FILE', about: 'also writes a JUnit report' },
  json: { type: 'boolean', about: 'prints JSON' },
  timeout: { type: 'string', value: 'MS', about: 'milliseconds for each call, 1 to 300000 (default 10000)' },
} as const satisfies OptionSpecs;

export const COMMAND_LINE = {
  name: 'contract',
  about:
    'Checks a session service against its interface, row by row. Says first which sign-ins it makes, and signs every session out.\n' +
    'Prints no key, token or password.',
  options: OPTIONS,
  environment: {
    SESSION_SERVICE_API_KEY: 'the application key (required)',
    SESSION_SERVICE_PASSWORD: 'the password of --user',
    SESSION_SERVICE_SECOND_PASSWORD: 'the password of --second-user',
    SESSION_SERVICE_PENDING_PASSWORD: 'the password of --pending-user',
  },
  exitCodes: ['every row that ran holds', 'a row fails, or the command was interrupted'],
} as const satisfies CommandLine<typeof OPTIONS>;

export interface ContractSettings extends ContractClientSettings {
  readonly tryWrongPassword: boolean;
  readonly junit: string | undefined;
  readonly json: boolean;
}

/**
 * Validates the options and the environment. @throws UsageError that names the wrong setting, without its
 * value
 */
export function readSettings(
  options: OptionValues<typeof OPTIONS>,
  { env, interrupted }: CommandIo,
): ContractSettings {
  const url = readServiceUrl(options.url);
  const apiKey = readApiKey(env);
  const users = {
    user: readAccount('user', options.user, 'SESSION_SERVICE_PASSWORD', env),
    'second user': readAccount('second-user', options['second-user'], 'SESSION_SERVICE_SECOND_PASSWORD', env),
    'pending user': readAccount(
      'pending-user',
      options['pending-user'],
      'SESSION_SERVICE_PENDING_PASSWORD',
      env,
    ),
  };
  const tryWrongPassword = options['try-wrong-password'] ?? false;
  if (tryWrongPassword && !users.user) throw new UsageError('--try-wrong-password needs --user.');
  if (options.junit === '') throw new UsageError('--junit must be the path of a file.');
  const timeoutMs = readTimeoutMs(options.timeout);
  const { junit, json = false } = options;
  return { url, apiKey, timeoutMs, interrupted, users, tryWrongPassword, junit, json };
}

function readAccount(
  option: string,
  username: string | undefined,
  variable: string,
  env: CommandIo['env'],
): Account | undefined {
  if (username === undefined) return undefined;
  const { [variable]: password = '' } = env;
  if (username === '') throw new UsageError(`--${option} must be the name of a user.`);
  if (password === '') throw new UsageError(`Set ${variable} to the password of --${option}.`);
  return { username, password };
}
