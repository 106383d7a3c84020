import type { CommandIo } from '../command-line/command-io.js';
import type { CommandLine, OptionSpecs, OptionValues } from '../command-line/command-line.js';
import { readAccount, readServiceSettings, SERVICE_OPTIONS } from '../command-line/service-settings.js';
import { UsageError } from '../command-line/command-io.js';
import type { ContractClientSettings } from './contract-client.js';

const { url, timeout, json } = SERVICE_OPTIONS;

const OPTIONS = {
  url,
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
  json,
  timeout,
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
export function readSettings(options: OptionValues<typeof OPTIONS>, io: CommandIo): ContractSettings {
  const service = readServiceSettings(options, io);
  const users = {
    user: readAccount('user', options.user, 'SESSION_SERVICE_PASSWORD', io),
    'second user': readAccount('second-user', options['second-user'], 'SESSION_SERVICE_SECOND_PASSWORD', io),
    'pending user': readAccount(
      'pending-user',
      options['pending-user'],
      'SESSION_SERVICE_PENDING_PASSWORD',
      io,
    ),
  };
  const tryWrongPassword = options['try-wrong-password'] ?? false;
  if (tryWrongPassword && !users.user) throw new UsageError('--try-wrong-password needs --user.');
  if (options.junit === '') throw new UsageError('--junit must be the path of a file.');
  return { ...service, users, tryWrongPassword, junit: options.junit };
}
