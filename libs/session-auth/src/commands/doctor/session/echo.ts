import { type Answer, type ReplyAnswer, tokenIn } from '../../calls/answer.js';
import type { Examination } from '../examination.js';
import type { OpenSession } from '../../calls/open-sessions.js';
import { readUserRecord } from './reading.js';

/** Calls of user_details with the token of the sign-in. */
interface Sample {
  /** Those that were accepted. */
  readonly replies: readonly ReplyAnswer[];
  readonly last: Answer | undefined;
}

/** Reports which token user_details returns, and which `tokenEcho` follows. Returns whether the guard can work with it. */
export function examineEcho(examination: Examination, session: OpenSession, sample: Sample): boolean {
  const { findings, secrets } = examination;
  const [token = ''] = session.tokens;
  const echoed = sample.replies.flatMap((reply) => tokenIn(reply) ?? []);
  secrets.add(...echoed);
  const others = [...new Set(echoed.filter((other) => other !== token))];
  if (others.length > 0) return acceptsOthers(examination, session, { ...sample, others });
  findings.ok('token-echo', echoed.length > 0 ? 'user_details returns the token that was presented.' : 'user_details returns no token.');
  return true;
}

/** Another token is either of a wrong record, or a new one for the same session. */
function acceptsOthers(
  { calls, findings, options }: Examination,
  session: OpenSession,
  sample: Sample & { others: readonly string[] },
): boolean {
  const { replies, last, others } = sample;
  const isMixedUp = !isOfSameUser(calls.answers, replies);
  if (!isMixedUp) session.tokens.push(...others);
  const isReplaced = last?.kind === 'reply' && last.status >= 400 && last.status < 429;
  if (isMixedUp || isReplaced) findings.fail('token-echo', isMixedUp ? MIXED_UP : REPLACED);
  else {
    options.tokenEcho = 'ignore';
    const change = others.length > 1 ? ', a new one each time' : '';
    findings.warn(
      'token-echo',
      `user_details returns another token than was presented${change}; the old one stays valid. The default 'deny' would answer 503.`,
    );
  }
  return !isMixedUp && !isReplaced;
}

const MIXED_UP = "user_details returns another token and another user's record. A proxy caches or mixes up replies: do not go live.";
const REPLACED =
  'user_details issues a new token, and refuses the old one then. The library cannot work with it: each check ends the session.';

/** Compares the records of user_details with that of the sign-in. */
function isOfSameUser(answers: readonly Answer[], replies: readonly ReplyAnswer[]): boolean {
  const users = answers.filter(
    (answer) => answer.kind === 'reply' && answer.status === 200 && tokenIn(answer) !== undefined,
  ) as ReplyAnswer[];
  const names = [...users, ...replies].map((reply) => {
    const reading = readUserRecord(reply);
    return 'user' in reading ? `${reading.user.username ?? ''}\n${reading.user.email ?? ''}` : '';
  });
  return new Set(names).size === 1;
}
