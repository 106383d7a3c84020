import { readCacheForMs } from '../../../session-auth/src/client/reply.js';
import { DEFAULTS } from '../../../session-auth/src/module/settings/option-table.js';
import { type Answer, described, failureText, type ReplyAnswer, statusOf, tokenIn } from '../calls/answer.js';
import { TOKENS } from '../calls/secrets.js';
import type { OpenSession } from '../calls/service-client.js';
import type { Examination } from './examination.js';
import { fieldsText, readUserRecord } from './reading.js';

const MAX_CALLS = 20;
const MAX_SAMPLE_MS = 2_000;
const MAX_TTL_MS = 300_000;

/** Reads the user of the session some times. Returns whether the guard could accept it. */
export async function examineUserDetails(examination: Examination, session: OpenSession): Promise<boolean> {
  const { calls, findings } = examination;
  const startedAt = performance.now();
  const first = await calls.userDetails(session.token);
  const answers = [first];
  let last = first;
  while (
    statusOf(last) === 200 &&
    !examination.isOver &&
    answers.length < MAX_CALLS &&
    performance.now() - startedAt < MAX_SAMPLE_MS
  ) {
    last = await calls.userDetails(session.token);
    answers.push(last);
  }
  const replies = answers.filter((answer) => answer.kind === 'reply').filter(({ status }) => status === 200);
  const [reply] = replies;
  if (!reply) {
    if (!calls.isInterrupted) findings.fail('user-details', refusedText(first));
    return false;
  }
  const reading = readUserRecord(reply);
  if ('problem' in reading) {
    findings.fail('user-details', `user_details answers 200, but ${reading.problem}.`);
    return false;
  }
  findings.ok('user-details', `user_details answers 200 with a valid user record${fieldsText(reply)}.`);
  examination.sessionAnswer = { reply, token: session.token };
  if (!examineEcho(examination, session, replies, last)) return false;
  examineLatency(examination, replies);
  examineSize(examination, replies);
  examineCacheHeaders(examination, replies);
  if (statusOf(last) !== 200 && !examination.isOver)
    findings.warn(
      'user-details',
      `One of ${answers.length} calls with the same token answered ${described(last)}.`,
    );
  return true;
}

function refusedText(answer: Answer): string {
  return answer.kind === 'failure'
    ? failureText(answer)
    : `user_details answers ${described(answer)} to the token of the sign-in.`;
}

function examineCacheHeaders({ findings }: Examination, replies: readonly ReplyAnswer[]): void {
  const allowed = Math.min(...replies.map(({ headers }) => readCacheForMs(headers, MAX_TTL_MS) ?? Infinity));
  if (allowed === 0)
    findings.warn(
      'cache',
      'Cache-Control or Age of user_details forbid caching: the option cache has no effect.',
    );
  else if (allowed < Infinity)
    findings.warn(
      'cache',
      `Cache-Control or Age of user_details allow to cache a session for ${allowed} ms at most.`,
    );
  else findings.ok('cache', 'No header of user_details shortens the option cache.');
}

/** Returns whether the guard can work with the tokens that user_details returns. */
function examineEcho(
  { findings, options, replies: all, secrets }: Examination,
  { token, laterTokens }: OpenSession,
  replies: readonly ReplyAnswer[],
  last: Answer,
): boolean {
  const echoed = replies.flatMap((reply) => tokenIn(reply) ?? []);
  secrets.add(TOKENS, ...echoed);
  const others = [...new Set(echoed)].filter((other) => other !== token);
  if (others.length === 0) {
    const what = echoed.length > 0 ? 'the token that was presented' : 'no token';
    findings.ok('token-echo', `user_details returns ${what}.`);
    return true;
  }
  const isMixedUp = !isOfSameUser(all);
  if (!isMixedUp) laterTokens.push(...others);
  const isReplaced = last.kind === 'reply' && last.status >= 400 && last.status < 429;
  if (isMixedUp || isReplaced) {
    findings.fail('token-echo', isMixedUp ? MIXED_UP : REPLACED);
    return false;
  }
  options.tokenEcho = 'ignore';
  const change = others.length > 1 ? ', a new one each time' : '';
  findings.warn(
    'token-echo',
    `user_details returns another token than was presented${change}; the old one stays valid. The default 'deny' would answer 503.`,
  );
  return true;
}

const MIXED_UP =
  "user_details returns another token and another user's record. A proxy caches or mixes up replies: do not go live.";
const REPLACED =
  'user_details issues a new token, and refuses the old one then. The library cannot work with it: each check ends the session.';

function isOfSameUser(replies: readonly ReplyAnswer[]): boolean {
  const records = replies.filter((reply) => reply.status === 200 && tokenIn(reply) !== undefined);
  const names = records.map((reply) => {
    const reading = readUserRecord(reply);
    return 'user' in reading ? `${reading.user.username ?? ''}\n${reading.user.email ?? ''}` : '';
  });
  return new Set(names).size === 1;
}

const MARGIN = 3;
const STEP_MS = 500;
const MAX_TIMEOUT_MS = 300_000;
const DRIP_MS = 250;

function examineLatency(
  { findings, options, replies: all }: Examination,
  replies: readonly ReplyAnswer[],
): void {
  const times = replies.map(({ totalMs }) => totalMs).sort((a, b) => a - b);
  const cold = all.find(({ reused }) => !reused)?.totalMs ?? 0;
  const slowest = Math.max(cold, ...times);
  const text = `user_details: p50 ${ms(quantile(times, 0.5))}, p99 ${ms(quantile(times, 0.99))} of ${times.length} calls; a new connection ${ms(cold)}.`;
  const needed = Math.min(MAX_TIMEOUT_MS, Math.ceil((MARGIN * slowest) / STEP_MS) * STEP_MS);
  if (needed <= DEFAULTS.timeoutMs) {
    findings.ok('latency', text);
    return;
  }
  options.timeoutMs = needed;
  findings.warn('latency', `${text} The default timeoutMs of ${DEFAULTS.timeoutMs} is short for it.`);
}

export function examineConnections({ calls, findings, replies }: Examination): void {
  const isReset = calls.answers.some(
    (answer) => answer.kind === 'failure' && answer.reused && answer.code === 'ECONNRESET',
  );
  if (isReset)
    findings.warn(
      'keep-alive',
      'The service closes kept connections without a word. The library retries a check then; set retry no lower than 2 attempts.',
    );
  else if (!replies.some(({ reused }) => reused))
    findings.warn(
      'keep-alive',
      'The service, or a proxy, closes the connection after each reply. Each check pays for a new one.',
    );
  else findings.ok('keep-alive', 'Connections are kept between calls.');
  const slowest = Math.max(0, ...replies.map(({ firstByteMs, totalMs }) => totalMs - firstByteMs));
  if (slowest > DRIP_MS)
    findings.warn(
      'slow-body',
      `A body arrived ${ms(slowest)} after its head. A check waits for the whole body.`,
    );
}

function examineSize({ findings, options }: Examination, replies: readonly ReplyAnswer[]): void {
  const bytes = Math.max(...replies.map((reply) => reply.bytes));
  const { maxResponseBytes } = DEFAULTS.http;
  if (bytes <= maxResponseBytes) {
    findings.ok('response-size', `The record has ${bytes} bytes.`);
    return;
  }
  options.http = { ...options.http, maxResponseBytes: 2 ** Math.ceil(Math.log2(2 * bytes)) };
  findings.warn(
    'response-size',
    `The record has ${bytes} bytes, more than the default http.maxResponseBytes of ${maxResponseBytes}.`,
  );
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
}

function ms(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}
