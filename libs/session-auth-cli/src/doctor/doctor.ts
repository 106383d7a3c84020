import type { CommandIo, ExitCode } from '../command-line/command-io.js';
import { readCommandLine } from '../command-line/command-line.js';
import { adviseStatusMap, examineLeaks, examineVerdicts } from './conclusions.js';
import { examineBodies, examineConnection, rateLimitText } from './connection.js';
import { COMMAND_LINE, Examination, readSettings } from './examination.js';
import { examineKeys, examinePath, examineRefusals, needsSlash } from './refusals.js';
import { reportAsJson, reportAsText } from './report.js';
import { examineSession, skipSession } from './session.js';
import { examineConnections } from './user-details.js';

/** Runs the subcommand `doctor`. @throws UsageError if the arguments or the environment are not usable */
export async function doctor(args: readonly string[], io: CommandIo): Promise<ExitCode> {
  const options = readCommandLine(COMMAND_LINE, args);
  if (typeof options === 'string') {
    io.stdout.write(options);
    return 0;
  }
  const examination = new Examination(readSettings(options, io), io);
  await examine(examination);
  const { findings, secrets, settings } = examination;
  const report = { checks: findings.checks, options: findings.hasFailure ? {} : examination.options };
  io.stdout.write(secrets.mask(settings.json ? reportAsJson(report) : reportAsText(report, io)));
  return findings.hasFailure ? 1 : 0;
}

async function examine(examination: Examination): Promise<void> {
  const { calls, findings, settings } = examination;
  try {
    if ((await examineConnection(examination)) && !(await isElsewhere(examination)))
      await examineService(examination);
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

/** Sends calls that must be refused. Returns whether user_details is elsewhere. */
async function isElsewhere(examination: Examination): Promise<boolean> {
  await examineRefusals(examination);
  return needsSlash(examination);
}

async function examineService(examination: Examination): Promise<void> {
  const { findings, settings } = examination;
  const { account } = settings;
  if (!account) skipSession(examination);
  else if (!examination.isOver) await examineSession(examination, account);
  examinePath(examination);
  examineKeys(examination);
  examineBodies(examination);
  examineConnections(examination);
  examineRateLimit(examination);
  examineLeaks(examination);
  if (!findings.has('session-service')) adviseStatusMap(examination);
  if (!findings.hasFailure) examineVerdicts(examination);
}

function examineRateLimit({ calls, findings }: Examination): void {
  const limited = calls.answers.find((answer) => answer.kind === 'reply' && answer.status === 429);
  if (limited?.kind === 'reply') findings.fail('rate-limit', rateLimitText(limited));
  else findings.ok('rate-limit', `No 429 in ${calls.answers.length} calls.`);
}
