import { randomBytes } from 'node:crypto';
import { callOutcomeOf } from '../../../session-auth/src/contract/status-outcomes.js';
import { AUTH_IV_HEADER, isHeaderValue } from '../../../session-auth/src/contract/wire.js';
import { DEFAULTS } from '../../../session-auth/src/module/settings/option-table.js';
import {
  type Answer,
  described,
  failureText,
  INTERRUPTED,
  MAY_BE_OPEN,
  type ReplyAnswer,
  statusOf,
} from '../calls/answer.js';
import { randomText, TOKENS } from '../calls/secrets.js';
import type { Account, OpenSession } from '../calls/service-client.js';
import type { Examination } from './examination.js';
import { MAPPING, readUserRecord } from './reading.js';
import { keyProbes, sendProbes } from './refusals.js';
import { examineUserDetails } from './user-details.js';

const WITHOUT_USER = [
  ['sign-in', 'Whether users can sign in, and whether their records are valid'],
  ['token-echo', 'Which token user_details returns'],
  ['latency', 'How fast user_details answers for a valid session'],
  ['cache', 'Whether headers of user_details forbid caching'],
  ['iv', 'Whether a session is bound to its X-AUTH-IV'],
  ['sign-out', 'Whether a sign-out ends the session'],
] as const;

export function skipSession({ findings }: Examination): void {
  for (const [id, question] of WITHOUT_USER) findings.unknown(id, `${question}: pass --user.`);
}

/** Examines a session from its sign-in to its end. Leaves no session open. */
export async function examineSession(examination: Examination, account: Account): Promise<void> {
  const { calls, findings } = examination;
  try {
    const session = await examineSignIn(examination, account);
    if (!session || !(await examineUserDetails(examination, session))) return;
    // A session shows more than a junk token.
    await sendProbes(examination, keyProbes(examination, session.token));
    if (!examination.isOver) await examineSignOut(examination, session.token);
    if (!examination.isOver) await examineIv(examination, account);
    if (!examination.isOver) await examineWrongPassword(examination);
  } finally {
    const left = await calls.endSessions();
    for (let session = 0; session < left; session += 1)
      findings.fail(
        'session-left-open',
        'A session of the examination could not be signed out. It ends when it expires.',
      );
  }
}

const MAX_TOKEN_LENGTH = 65_536;

/** Appended to the text of a status that the library understands. */
const UNLISTED = ' The interface says 200; the library takes it for success, and logs it once.';

/** Signs a user in, once: a second failure could lock the account. */
async function signIn(
  { calls, secrets }: Examination,
  account: Account,
  headers = {},
): Promise<{ readonly answer: Answer; readonly session: OpenSession | undefined }> {
  const answer = await calls.signIn(account, headers);
  const session = calls.sessionOf(answer);
  secrets.add(TOKENS, session?.token);
  return { answer, session };
}

/** Returns the session of the first sign-in if the library could use it. */
async function examineSignIn(examination: Examination, account: Account): Promise<OpenSession | undefined> {
  const { findings, options } = examination;
  const { answer, session } = await signIn(examination, account);
  if (answer.kind === 'failure') {
    if (answer.code !== INTERRUPTED)
      findings.fail('sign-in', `The sign-in brought no reply. ${failureText(answer)}`);
    return undefined;
  }
  const { status } = answer;
  if (callOutcomeOf('sign_in', status) === 'accepted') {
    findings.unknown(
      'sign-in',
      'The sign-in answers 202, which the interface does not explain: no session, and nothing to examine. Use another user.',
    );
    return undefined;
  }
  const problem = signInProblem(answer, session?.token);
  if (problem !== undefined) {
    findings.fail('sign-in', problem);
    return undefined;
  }
  const { length } = session?.token ?? '';
  if (length > DEFAULTS.http.maxTokenLength)
    options.http = { ...options.http, maxTokenLength: Math.min(MAX_TOKEN_LENGTH, 2 * length) };
  const note = status === 200 ? '' : UNLISTED;
  findings.ok('sign-in', `Signs in with ${status}, a valid user record and a token.${note}`);
  return session;
}

function signInProblem(answer: ReplyAnswer, token: string | undefined): string | undefined {
  const text = `The sign-in answers ${described(answer)}`;
  if (callOutcomeOf('sign_in', answer.status) !== 'done') return `${text}: ${refusalText(answer)}`;
  const reading = readUserRecord(answer);
  const mayBeOpen = token === undefined ? MAY_BE_OPEN : '';
  if ('problem' in reading) return `${text}, but ${reading.problem}.${mayBeOpen}`;
  if (token === undefined)
    return `${text}, but its record has no auth_token. If another field is the token, map it. ${MAPPING}${mayBeOpen}`;
  return isHeaderValue(token, MAX_TOKEN_LENGTH)
    ? undefined
    : 'The token holds other characters than visible ASCII, or is longer than 65536 bytes: no header can carry it.';
}

const FIXED_PATH =
  'The library calls /authentication below baseUrl, a path that no option changes: let a gateway map it.';

function refusalText({ status }: ReplyAnswer): string {
  switch (callOutcomeOf('sign_in', status)) {
    case 'rejected': {
      const [url, path] = status === 404 ? [', and the path of --url', ` ${FIXED_PATH}`] : ['', ''];
      return `check --user and SESSION_SERVICE_PASSWORD${url}. It is not tried again, since that could lock the account.${path}`;
    }
    case 'denied':
      return 'check the key, and whether the user may sign in, or is locked.';
    case 'invalid':
      return 'the service does not understand the request. The library sends JSON with username and password, names that no option changes: let a gateway map them.';
    case 'limited':
      return 'the service limits sign-ins.';
    default:
      return status >= 500
        ? 'the service fails.'
        : `the service redirects the request, or does not know it. ${FIXED_PATH}`;
  }
}

/** With a random user name: failures with a real one could lock its account. */
async function examineWrongPassword(examination: Examination): Promise<void> {
  const { findings, options } = examination;
  const { answer } = await signIn(examination, { username: randomText(), password: randomText() });
  const text = `A sign-in of an unknown user answers ${described(answer)}`;
  if (answer.kind === 'failure') {
    findings.unknown('wrong-password', `${text}. ${failureText(answer)}`);
    return;
  }
  const outcome = callOutcomeOf('sign_in', answer.status) ?? '';
  if (answer.status < 300) findings.fail('wrong-password', `${text}: the service signs in anyone.`);
  else if (outcome === 'rejected')
    findings.ok('wrong-password', `${text}, which is CredentialsRejectedError (401).`);
  else {
    const error = ERRORS[outcome] ?? 'SessionServiceUnavailableError (503)';
    findings.warn('wrong-password', `${text}, which is ${error} in signIn(), not 401.`);
    // The key is accepted, and the library sends sign-ins that can be read.
    if (outcome === 'invalid' || outcome === 'denied')
      options.statusMap = { ...options.statusMap, signIn: { [answer.status]: 'rejected' } };
  }
}

const ERRORS: Partial<Record<string, string>> = {
  invalid: 'InvalidRequestError (400)',
  denied: 'AccessDeniedError (403)',
  limited: 'TooManyAttemptsError (429)',
};

async function examineSignOut(examination: Examination, token: string): Promise<void> {
  const { calls, findings, refusals } = examination;
  const answer = await calls.signOut(token);
  if (answer.kind === 'failure') {
    findings.fail('sign-out', failureText(answer));
    return;
  }
  const { status } = answer;
  const isDone = callOutcomeOf('sign_out', status) === 'done';
  if (isDone && status < 300)
    findings.ok('sign-out', `Signs out with ${status}.${status === 200 ? '' : UNLISTED}`);
  else {
    const effect = isDone ? 'which the library takes for a session that has ended' : 'so signOut() rejects';
    findings.fail(
      'sign-out',
      `The sign-out answers ${described(answer)}, ${effect}. The interface says 200.`,
    );
  }
  if (status >= 300) return;
  const after = await calls.userDetails(token);
  if (after.kind === 'failure')
    findings.unknown(
      'ended-token',
      'Whether the token is refused after its sign-out: the call brought no reply.',
    );
  else if (after.status === 200)
    findings.fail(
      'ended-token',
      'user_details accepts the token after its sign-out: the session did not end, or a cache answers.',
    );
  else {
    refusals.endedToken = after;
    findings.ok('ended-token', `user_details answers ${described(after)} to the token after its sign-out.`);
    if (!examination.isOver) await examineSecondSignOut(examination, token);
  }
}

async function examineSecondSignOut({ calls, findings }: Examination, token: string): Promise<void> {
  const again = await calls.signOut(token);
  const text = `A second sign-out answers ${described(again)}`;
  if (again.kind === 'reply' && callOutcomeOf('sign_out', again.status) === 'done')
    findings.ok('second-sign-out', `${text}, and signOut() resolves.`);
  else findings.warn('second-sign-out', `${text}, and signOut() rejects.`);
}

const newIv = (): string => randomBytes(16).toString('base64');

async function examineIv(examination: Examination, account: Account): Promise<void> {
  const { calls, findings, secrets } = examination;
  const [authIv, otherIv] = [newIv(), newIv()];
  secrets.add(TOKENS, authIv, otherIv);
  const withIv = { [AUTH_IV_HEADER]: authIv };
  const { answer, session } = await signIn(examination, account, withIv);
  if (!session) {
    const isUnclear = answer.kind === 'failure' || callOutcomeOf('sign_in', answer.status) === 'done';
    findings.unknown(
      'iv',
      `What X-AUTH-IV is for: a sign-in with a random one answers ${described(answer)}.${isUnclear ? MAY_BE_OPEN : ''}`,
    );
    return;
  }
  const own = await calls.userDetails(session.token, withIv);
  const none = await calls.userDetails(session.token);
  const other = await calls.userDetails(session.token, { [AUTH_IV_HEADER]: otherIv });
  await calls.signOut(session.token, withIv);
  compareIvs(examination, own, none, other);
}

function compareIvs(
  { findings, options, refusals }: Examination,
  own: Answer,
  none: Answer,
  other: Answer,
): void {
  const [acceptsOwn, acceptsNone, acceptsOther] = [own, none, other].map((read) => statusOf(read) === 200);
  const statuses = `(own IV: ${described(own)}, none: ${described(none)}, another: ${described(other)})`;
  if (acceptsOwn) {
    if (none.kind === 'reply') refusals.noIv = none;
    if (other.kind === 'reply') refusals.otherIv = other;
    const text = acceptsOther
      ? `user_details accepts a session with any X-AUTH-IV ${statuses}. forwardAuthIv: false is possible.`
      : `A session is bound to the X-AUTH-IV of its sign-in ${statuses}. Callers present it with the token.`;
    findings.ok('iv', text);
  } else if (acceptsNone) {
    options.forwardAuthIv = false;
    findings.warn(
      'iv',
      `user_details refuses the X-AUTH-IV of the sign-in, and accepts the token without it ${statuses}.`,
    );
  } else
    findings.unknown(
      'iv',
      `How X-AUTH-IV works: a session that was opened with one is not accepted ${statuses}.`,
    );
}
