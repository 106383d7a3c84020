import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { aUserRecord } from '../../../session-auth/src/testing/a-user-record.js';
import {
  type Command,
  type CommandIo,
  type ExitCode,
  type OptionValues,
  paintFor,
  UsageError,
} from '../command-line/command-line.js';
import { CONTROL_PATH, DevService, type DevUser } from './dev-service.js';

const DEFAULT_USER = 'ann:secret:hiring_manager';

const OPTIONS = {
  port: { type: 'string', value: 'PORT', about: 'port to listen on; 0 selects a free one (default: 3100)' },
  host: { type: 'string', value: 'HOST', about: 'address to listen on (default: 127.0.0.1)' },
  'allow-host': {
    type: 'string',
    multiple: true,
    value: 'NAME',
    about: 'name that it also answers to, besides localhost and IP addresses; may be repeated',
  },
  user: {
    type: 'string',
    multiple: true,
    value: 'NAME:PASSWORD[:ROLE[:SUB_ROLE]]',
    about: `a user; may be repeated (default: ${DEFAULT_USER})`,
  },
  users: {
    type: 'string',
    value: 'FILE',
    about: 'JSON file: an array of user records, each with a password',
  },
  quiet: { type: 'boolean', about: 'prints no line for each request' },
} as const;

export const DEV: Command<typeof OPTIONS> = {
  about:
    'Serves the interface of the session service in memory, for development and for tests of front ends.\n' +
    `POST ${CONTROL_PATH}/revoke, /delay, /fail and /reset change its behaviour; GET ${CONTROL_PATH} shows it.`,
  options: OPTIONS,
  environment: {
    SESSION_SERVICE_API_KEY: 'the only accepted application key; without it, every key is accepted',
  },
  exitCodes: ['it was stopped', 'it could not listen'],
  run: dev,
};

async function dev(options: OptionValues<typeof OPTIONS>, io: CommandIo): Promise<ExitCode> {
  const { stdout, stderr, env, interrupted } = io;
  if (env.NODE_ENV === 'production')
    throw new UsageError('dev keeps passwords in plain text, and does not run with NODE_ENV=production.');
  const { host = '127.0.0.1', quiet = false } = options;
  const given = await usersFrom(options);
  const port = portFrom(options.port);
  const service = new DevService({
    host,
    allowedHosts: namesFrom(options['allow-host']),
    apiKey: env.SESSION_SERVICE_API_KEY,
    users: given.length > 0 ? given : [userFromOption(DEFAULT_USER)],
    onAnswer: (method, path, answer) => {
      if (!quiet) stdout.write(`${answer} ${method} ${path}\n`);
    },
  });
  try {
    await service.open(port);
  } catch (error) {
    stderr.write(`${explain(error as NodeJS.ErrnoException, host, port)}\n`);
    return 1;
  }
  // The password of the default user is no secret. Those of other users are not printed.
  const names = given.map(({ record }) => record.username).join(', ');
  stdout.write(
    [
      `Session service for development: ${paintFor(io)('bold', service.url)}`,
      `  application key  ${env.SESSION_SERVICE_API_KEY ? 'that of SESSION_SERVICE_API_KEY' : 'any'}`,
      `  users            ${names || `${DEFAULT_USER} (name:password:role)`}`,
      `  control          GET ${CONTROL_PATH}, POST ${CONTROL_PATH}/revoke, ${CONTROL_PATH}/delay, ${CONTROL_PATH}/fail, ${CONTROL_PATH}/reset`,
      'Stop it with Ctrl+C.\n\n',
    ].join('\n'),
  );
  if (!interrupted.aborted) await once(interrupted, 'abort');
  await service.close();
  return 0;
}

async function usersFrom({ user = [], users }: OptionValues<typeof OPTIONS>): Promise<DevUser[]> {
  return [...(users === undefined ? [] : await usersInFile(users)), ...user.map(userFromOption)];
}

async function usersInFile(file: string): Promise<DevUser[]> {
  let users: unknown;
  try {
    users = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    // The error of the parser quotes the text, which contains passwords.
    if (error instanceof SyntaxError) throw new UsageError('--users must name a file with valid JSON.');
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new UsageError(`--users: the file can't be read (${code}).`);
  }
  if (Array.isArray(users)) return users.map(userFromRecord);
  throw new UsageError('--users must name a file with a JSON array of user records.');
}

function namesFrom(names: readonly string[] = []): readonly string[] {
  if (names.every((name) => /^[a-z\d_-]+(?:\.[a-z\d_-]+)*$/i.test(name))) return names;
  throw new UsageError('--allow-host must be a host name without scheme and port.');
}

function portFrom(text = '3100'): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError('--port must be 0 to 65535.');
}

function explain({ code }: NodeJS.ErrnoException, host: string, port: number): string {
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${host} is in use. Stop the program that listens there, or set --port.`;
  return `Can't listen on port ${port} of ${host} (${code ?? 'unknown error'}). Set --port or --host.`;
}

function userFromOption(text: string): DevUser {
  const [username, password, role = '', sub_role = '', ...rest] = text.split(':');
  if (!username || !password || rest.length > 0)
    throw new UsageError('--user must be NAME:PASSWORD[:ROLE[:SUB_ROLE]].');
  const roles = { role: role || null, sub_role: sub_role || null };
  const unnamed = { first_name: null, last_name: null, email: null };
  return { password, record: { ...aUserRecord({ ...roles, ...unnamed }), username } };
}

function userFromRecord(value: unknown, index: number): DevUser {
  const { password, ...record } = { ...(value as Readonly<Record<string, unknown>> | null) };
  if (!isText(record.username) || !isText(password)) {
    throw new UsageError(
      `--users: user ${index + 1} needs a username and a password, both non-empty strings.`,
    );
  }
  return { password, record: { ...record, username: record.username } };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
