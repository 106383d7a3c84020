import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { aUserRecord } from '../../../session-auth/src/testing/a-user-record.js';
import { type CommandIo, type ExitCode, paintFor, UsageError } from '../command-line/command-io.js';
import { type OptionValues, readCommandLine } from '../command-line/command-line.js';
import { CONTROL_PATH, DevService, type DevServiceOptions, type DevUser } from './dev-service.js';

/** The user of a service that is started without users. */
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

const COMMAND_LINE = {
  name: 'dev',
  about:
    'Serves the interface of the session service in memory, for development and for tests of front ends.\n' +
    `POST ${CONTROL_PATH}/revoke, /delay, /fail and /reset change its behaviour; GET ${CONTROL_PATH} shows it.`,
  options: OPTIONS,
  environment: {
    SESSION_SERVICE_API_KEY: 'the only accepted application key; without it, every key is accepted',
  },
  exitCodes: ['it was stopped', 'it could not listen'],
} as const;

export async function dev(args: readonly string[], io: CommandIo): Promise<ExitCode> {
  const values = readCommandLine(COMMAND_LINE, args);
  if (typeof values === 'string') {
    io.stdout.write(values);
    return 0;
  }
  if (io.env.NODE_ENV === 'production')
    throw new UsageError('dev keeps passwords in plain text, and does not run with NODE_ENV=production.');
  const { host = '127.0.0.1' } = values;
  const given = await usersFrom(values);
  const port = portFrom(values.port);
  const allowedHosts = namesFrom(values['allow-host']);
  const { SESSION_SERVICE_API_KEY: key = '' } = io.env;
  const apiKey = key === '' ? undefined : key;
  const users = given.length > 0 ? given : [userFromOption(DEFAULT_USER)];
  const service = await DevService.open({
    host,
    port,
    allowedHosts,
    apiKey,
    users,
    onAnswer: logTo(io, values),
  }).catch(
    (error: unknown) => void io.stderr.write(`${explain(error as NodeJS.ErrnoException, host, port)}\n`),
  );
  if (!service) return 1;
  const names =
    given.length > 0
      ? given.map(({ record }) => record.username).join(', ')
      : `${DEFAULT_USER} (name:password:role)`;
  io.stdout.write(greeting(paintFor(io.stdout, io)('bold', service.url), apiKey !== undefined, names));
  if (!io.interrupted.aborted) await once(io.interrupted, 'abort');
  await service.close();
  return 0;
}

function logTo(
  { stdout }: CommandIo,
  { quiet }: OptionValues<typeof OPTIONS>,
): DevServiceOptions['onAnswer'] {
  return quiet === true
    ? () => undefined
    : (method, path, answer) => void stdout.write(`${answer} ${method} ${path}\n`);
}

async function usersFrom({ user = [], users }: OptionValues<typeof OPTIONS>): Promise<DevUser[]> {
  return [...(users === undefined ? [] : usersFromJson(await textOf(users))), ...user.map(userFromOption)];
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(
      `--users: the file can't be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`,
    );
  }
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

/** The password of the default user is no secret. Those of other users are not printed. */
function greeting(url: string, hasKey: boolean, names: string): string {
  return [
    `Session service for development: ${url}`,
    `  application key  ${hasKey ? 'that of SESSION_SERVICE_API_KEY' : 'any'}`,
    `  users            ${names}`,
    `  control          GET ${CONTROL_PATH}, POST ${CONTROL_PATH}/revoke, ${CONTROL_PATH}/delay, ${CONTROL_PATH}/fail, ${CONTROL_PATH}/reset`,
    'Stop it with Ctrl+C.\n\n',
  ].join('\n');
}

function userFromOption(text: string): DevUser {
  const [username, password, role = '', sub_role = '', ...rest] = text.split(':');
  if (!username || !password || rest.length > 0)
    throw new UsageError('--user must be NAME:PASSWORD[:ROLE[:SUB_ROLE]].');
  const unnamed = { first_name: null, last_name: null, email: null };
  return {
    password,
    record: {
      ...aUserRecord({
        role: role === '' ? null : role,
        sub_role: sub_role === '' ? null : sub_role,
        ...unnamed,
      }),
      username,
    },
  };
}

/** Reads the users of a JSON file: a list of user records, each with a `password`. */
function usersFromJson(text: string): DevUser[] {
  const users = parse(text);
  if (!Array.isArray(users))
    throw new UsageError('--users must name a file with a JSON array of user records.');
  return users.map(userFromRecord);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The error of the parser quotes the text, which contains passwords.
    throw new UsageError('--users must name a file with valid JSON.');
  }
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
