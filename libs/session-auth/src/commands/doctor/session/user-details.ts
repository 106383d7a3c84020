import { readCacheForMs } from '../../../client/reply-headers.js';
import { described, type Answer, type ReplyAnswer } from '../../calls/answer.js';
import { randomText, type Examination } from '../examination.js';
import { failureText } from '../../calls/failure-texts.js';
import { examineEcho } from './echo.js';
import { examineLatency, examineSize } from './latency.js';
import type { OpenSession } from '../../calls/open-sessions.js';
import { readUserRecord } from './reading.js';

const MAX_CALLS = 20;
const MAX_SAMPLE_MS = 2_000;
/** The longest lifetime of a cache entry. */
const MAX_TTL_MS = 300_000;

/** Reads the user of the session some times over kept connections. Returns whether the guard could accept it. */
export async function examineUserDetails(examination: Examination, session: OpenSession): Promise<boolean> {
  const { calls, findings } = examination;
  const token = session.tokens[0] ?? '';
  const answers: Answer[] = [];
  for (const startedAt = performance.now(); answers.length < MAX_CALLS && performance.now() - startedAt < MAX_SAMPLE_MS;) {
    answers.push(await calls.userDetails({ token }));
    if (examination.isOver || !isRead(answers.at(-1))) break;
  }
  const replies = answers.filter((answer) => answer.kind === 'reply').filter(({ status }) => status === 200);
  const [first] = answers;
  if (!first || (calls.isInterrupted && replies.length === 0)) return false;
  if (!isRecord(examination, first)) return false;
  examination.sessionAnswer = { answer: first, token };
  if (!examineEcho(examination, session, { replies, last: answers.at(-1) })) return false;
  examineLatency(examination, replies);
  examineSize(examination, replies);
  examineCacheHeaders(examination, replies);
  if (!isRead(answers.at(-1)) && !examination.isOver)
    findings.warn('user-details', `One of ${answers.length} calls with the same token answered ${described(answers.at(-1) ?? first)}.`);
  return true;
}

function isRead(answer: Answer | undefined): boolean {
  return answer?.kind === 'reply' && answer.status === 200;
}

function isRecord({ findings }: Examination, answer: Answer): answer is ReplyAnswer {
  if (answer.kind === 'failure') findings.fail('user-details', failureText(answer));
  else if (answer.status !== 200) findings.fail('user-details', `user_details answers ${described(answer)} to the token of the sign-in.`);
  else {
    const reading = readUserRecord(answer);
    if ('user' in reading) findings.ok('user-details', 'user_details answers 200 with a valid user record.');
    else findings.fail('user-details', `user_details answers 200, but ${reading.problem}.`);
    return 'user' in reading;
  }
  return false;
}

function examineCacheHeaders({ findings }: Examination, replies: readonly ReplyAnswer[]): void {
  const allowed = Math.min(...replies.map(({ headers }) => readCacheForMs(headers, MAX_TTL_MS) ?? Infinity));
  if (allowed === 0) findings.warn('cache', 'Cache-Control or Age of user_details forbid caching: the option cache has no effect.');
  else if (allowed < Infinity)
    findings.warn('cache', `Cache-Control or Age of user_details allow to cache a session for ${allowed} ms at most.`);
  else findings.ok('cache', 'No header of user_details shortens the option cache.');
}

/** Sends the token with a wrong key and without a key, which shows more than a junk token. */
export async function examineKeysOfSession(examination: Examination, { tokens: [token = ''] }: OpenSession): Promise<void> {
  const { calls, refusals } = examination;
  for (const [name, apiKey] of [
    ['wrongKey', randomText()],
    ['noKey', null],
  ] as const) {
    if (examination.isOver) return;
    const answer = await calls.userDetails({ token, apiKey });
    if (answer.kind === 'reply') refusals[name] = answer;
  }
}
