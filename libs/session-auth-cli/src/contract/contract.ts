import { type FileHandle, open } from 'node:fs/promises';
import {
  type Command,
  type CommandIo,
  type ExitCode,
  type OptionSpecs,
  type OptionValues,
  UsageError,
} from '../command-line/command-line.js';
import { readAccount, readServiceSettings, SERVICE_OPTIONS } from '../command-line/service-settings.js';
import { ContractRun, type ContractSettings } from './contract-run.js';
import { asJson, asJunit, planText, rowWriter, summaryOf } from './report.js';
import type { RowResult } from './row.js';
import { CONTRACT_ROWS } from './rows.js';

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

export const CONTRACT: Command<typeof OPTIONS> = {
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
  run: contract,
};

async function contract(options: OptionValues<typeof OPTIONS>, io: CommandIo): Promise<ExitCode> {
  const settings = readSettings(options, io);
  const junit = options.junit === undefined ? undefined : await openReport(options.junit);
  try {
    const results = await runAll(settings, io, options.json);
    await junit?.writeFile(asJunit(results));
    return io.interrupted.aborted || results.some(({ outcome }) => outcome === 'fail') ? 1 : 0;
  } finally {
    await junit?.close();
  }
}

function readSettings(options: OptionValues<typeof OPTIONS>, io: CommandIo): ContractSettings {
  const service = readServiceSettings(options, io);
  const { 'try-wrong-password': tryWrongPassword = false } = options;
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
  if (tryWrongPassword && !users.user) throw new UsageError('--try-wrong-password needs --user.');
  return { ...service, users, tryWrongPassword };
}

/** Before the first call: a report that can't be written is a fault of the command line. */
async function openReport(file: string): Promise<FileHandle> {
  if (file === '') throw new UsageError('--junit must be the path of a file.');
  try {
    return await open(file, 'w');
  } catch (error) {
    const { code = 'no code' } = error as NodeJS.ErrnoException;
    throw new UsageError(`The file of --junit can't be written (${code}).`);
  }
}

async function runAll(settings: ContractSettings, io: CommandIo, isJson = false): Promise<RowResult[]> {
  const run = new ContractRun(settings);
  const write = isJson ? undefined : rowWriter(io);
  const results: RowResult[] = [];
  const add = (result: RowResult): void => {
    results.push(result);
    write?.(result);
  };
  (isJson ? io.stderr : io.stdout).write(planText(run, settings));
  for (const row of CONTRACT_ROWS) add(await run.run(row));
  add(run.finish());
  io.stdout.write(isJson ? asJson(results) : summaryOf(results));
  return results;
}
