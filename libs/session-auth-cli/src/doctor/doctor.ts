import type { ReplyAnswer } from '../calls/answer.js';
import {
  type Command,
  type CommandIo,
  type ExitCode,
  type OptionSpecs,
  type OptionValues,
  UsageError,
} from '../command-line/command-line.js';
import { readAccount, readServiceSettings, SERVICE_OPTIONS } from '../command-line/service-settings.js';
import { adviseStatusMap, examineLeaks, examineVerdicts } from './conclusions.js';
import { examineBodies, examineConnection, rateLimitText } from './connection.js';
import { type DoctorSettings, Examination } from './examination.js';
import { examineKeys, examinePath, examineRefusals, needsSlash } from './refusals.js';
import { reportAsText } from './report.js';
import { examineSession, skipSession } from './session.js';
import { examineConnections } from './user-details.js';

const { url, timeout, json } = SERVICE_OPTIONS;

const OPTIONS = {
  url,
  user: {
    type: 'string',
    value: 'NAME',
    about: 'signs in as this user, and out again; without it, only refusals are examined',
  },
  redis: {
    type: 'string',
    value: 'URL',
    about: 'also examines the Redis of a shared cache, such as redis://user@host:6379',
  },
  timeout,
  json,
} as const satisfies OptionSpecs;

export const DOCTOR: Command<typeof OPTIONS> = {
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
  run: doctor,
};

async function doctor(options: OptionValues<typeof OPTIONS>, io: CommandIo): Promise<ExitCode> {
  const examination = new Examination(readSettings(options, io), io);
  await examine(examination);
  const { findings, secrets } = examination;
  const report = { checks: findings.checks, options: findings.hasFailure ? {} : examination.options };
  const text = options.json ? `${JSON.stringify(report, null, 2)}\n` : reportAsText(report, io);
  io.stdout.write(secrets.mask(text));
  return findings.hasFailure ? 1 : 0;
}

function readSettings(options: OptionValues<typeof OPTIONS>, io: CommandIo): DoctorSettings {
  const { REDIS_PASSWORD: password } = io.env;
  return {
    ...readServiceSettings(options, io),
    account: readAccount('user', options.user, 'SESSION_SERVICE_PASSWORD', io),
    redis: options.redis === undefined ? undefined : { url: readRedisUrl(options.redis), password },
  };
}

function readRedisUrl(value: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'redis:' && url?.protocol !== 'rediss:')
    throw new UsageError('--redis must be a redis: or rediss: URL.');
  if (url.password !== '') throw new UsageError('--redis must not hold a password. Set REDIS_PASSWORD.');
  return url;
}

async function examine(examination: Examination): Promise<void> {
  const { calls, findings, settings } = examination;
  try {
    const junk = await examineConnection(examination);
    if (junk) await examineRefusals(examination, junk);
    if (junk && !(await needsSlash(examination, junk))) await examineService(examination, junk);
    else findings.unknown('session-service', 'Everything else: it needs a session service that answers.');
    if (settings.redis && !calls.isInterrupted)
      await (await import('./redis.js')).examineRedis(examination, settings.redis);
    if (calls.isInterrupted)
      findings.fail(
        'interrupted',
        'The examination was interrupted. It signs out every session whose token it knows.',
      );
  } finally {
    calls.close();
  }
}

async function examineService(examination: Examination, junk: ReplyAnswer): Promise<void> {
  const { findings, settings } = examination;
  if (!settings.account) skipSession(examination);
  else if (!examination.isOver) await examineSession(examination, settings.account);
  examinePath(examination, junk);
  examineKeys(examination, junk);
  examineBodies(examination);
  examineConnections(examination);
  examineRateLimit(examination);
  examineLeaks(examination);
  adviseStatusMap(examination, junk);
  if (!findings.hasFailure) examineVerdicts(examination, junk);
}

function examineRateLimit({ calls, findings, replies }: Examination): void {
  const limited = replies.find(({ status }) => status === 429);
  if (limited) findings.fail('rate-limit', rateLimitText(limited));
  else findings.ok('rate-limit', `No 429 in ${calls.answers.length} calls.`);
}
