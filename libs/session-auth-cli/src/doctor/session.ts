import { randomBytes } from 'node:crypto';
import { AUTH_IV_HEADER, isHeaderValue } from '../../../session-auth/src/contract/wire.js';
import { callOutcomeOf } from '../../../session-auth/src/contract/status-outcomes.js';
import { DEFAULTS } from '../../../session-auth/src/module/settings/option-defaults.js';
import {
  type Answer,
  described,
  failureText,
  INTERRUPTED,
  type ReplyAnswer,
  statusOf,
  tokenIn,
} from '../calls/answer.js';
import type { Account, OpenSession } from '../calls/service-client.js';
import type { Examination } from './examination.js';
import { randomText } from '../calls/secrets.js';
import { readUserRecord } from './reading.js';
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

/** Reports the checks that need a user as `unknown`. */
export function skipSession({ findings }: Examination): void {
  for (const [id, question] of WITHOUT_USER) findings.unknown(id, `${question}: pass --user.`);
}

/** Examines a session from its sign-in to its end. Leaves no session open. */
export async function examineSession(examination: Examination, account: Account): Promise<void> {
  try {
    const session = await examineSignIn(examination, account);
    if (!session || !(await examineUserDetails(examination, session))) return;
    // A session shows more than a junk token.
    await sendProbes(examination, keyProbes(examination, session.tokens[0] ?? ''));
    if (examination.isOver) return;
    await examineSignOut(examination, session);
    await examineIv(examination, account);
    await examineWrongPassword(examination);
  } finally {
    await endSessions(examination);
  }
}

async function endSessions({ calls, findings }: Examination): Promise<void> {
  const left = await calls.endSessions();
  for (let session = 0; session < left; session += 1)
    findings.fail(
      'session-left-open',
      'A session of the examination could not be signed out. It ends when it expires.',
    );
}

/** The largest value of `http.maxTokenLength`. */
const MAX_TOKEN_LENGTH = 65_536;

/** Appended to the text of a status that the library understands. */
const UNLISTED = ' The interface says 200; the library takes it for success, and logs it once.';

/** Appended to the text of a sign-in that may have opened a session without returning its token. */
const MAY_BE_OPEN = ' A session may have been opened; its token is unknown.';

/** Signs a user in, once: a second failure could lock the account. Returns the session. */
async function signIn(
  { calls, secrets }: Examination,
  account: Account,
  authIv?: string,
): Promise<OpenSession | undefined> {
  const answer = await calls.signIn(account, authIv === undefined ? {} : { [AUTH_IV_HEADER]: authIv });
  const session = answer.kind === 'reply' ? calls.sessionOf(tokenIn(answer)) : undefined;
  secrets.add(...(session?.tokens ?? []));
  return session;
}

/** The first sign-in. Returns its session if the library could use it. */
async function examineSignIn(examination: Examination, account: Account): Promise<OpenSession | undefined> {
  const session = await signIn(examination, account);
  const answer = examination.calls.answers.at(-1);
  if (!answer || (answer.kind === 'failure' && answer.code === INTERRUPTED)) return undefined;
  const problem = signInProblem(answer, session?.tokens[0], examination);
  if (problem !== undefined || examination.calls.isInterrupted) return undefined;
  const status = statusOf(answer) ?? 200;
  const note = status === 200 ? '' : UNLISTED;
  examination.findings.ok('sign-in', `Signs in with ${status}, a valid user record and a token.${note}`);
  return session;
}

function signInProblem(
  answer: Answer,
  token: string | undefined,
  { findings, options }: Examination,
): string | undefined {
  const fail = (text: string): string => (findings.fail('sign-in', text), text);
  if (answer.kind === 'failure')
    return fail(`The sign-in brought no reply. ${failureText(answer)}${MAY_BE_OPEN}`);
  const { status } = answer;
  const outcome = callOutcomeOf('sign_in', status);
  if (outcome === 'accepted') {
    findings.unknown(
      'sign-in',
      'The sign-in answers 202, which the interface does not explain: no session, and nothing to examine. Use another user.',
    );
    return '202';
  }
  if (outcome !== 'done') return fail(refusalText(answer));
  const reading = readUserRecord(answer);
  if ('problem' in reading)
    return fail(
      `The sign-in answers ${status}, but ${reading.problem}.${token === undefined ? MAY_BE_OPEN : ''}`,
    );
  if (token === undefined)
    return fail(
      `The sign-in answers ${status}, but its record has no auth_token, a name that no option changes.${MAY_BE_OPEN}`,
    );
  if (!isHeaderValue(token, MAX_TOKEN_LENGTH))
    return fail(
      'The token holds other characters than visible ASCII, or is longer than 65536 bytes: no header can carry it.',
    );
  if (token.length > DEFAULTS.http.maxTokenLength)
    options.http = { ...options.http, maxTokenLength: Math.min(MAX_TOKEN_LENGTH, 2 * token.length) };
  return undefined;
}

/** The paths and the names of fields and headers are those of the interface. */
const FIXED = {
  path: 'The library calls /authentication below baseUrl, a path that no option changes: let a gateway map it.',
  fields:
    'The library sends JSON with username and password, names that no option changes: let a gateway map them.',
};

function refusalText(answer: ReplyAnswer): string {
  const text = `The sign-in answers ${described(answer)}`;
  switch (callOutcomeOf('sign_in', answer.status)) {
    case 'rejected': {
      const [url, path] = answer.status === 404 ? [', and the path of --url', ` ${FIXED.path}`] : ['', ''];
      return `${text}: check --user and SESSION_SERVICE_PASSWORD${url}. It is not tried again, since that could lock the account.${path}`;
    }
    case 'denied':
      return `${text}: check the key, and whether the user may sign in, or is locked.`;
    case 'invalid':
      return `${text}: the service does not understand the request. ${FIXED.fields}`;
    case 'limited':
      return `${text}: the service limits sign-ins.`;
    default:
      return answer.status >= 500
        ? `${text}: the service fails.`
        : `${text}: the service redirects the request, or does not know it. ${FIXED.path}`;
  }
}

/** Whether a sign-in with this status may have opened a session. */
function isUnclear(status: number | undefined): boolean {
  return status === undefined || callOutcomeOf('sign_in', status) === 'done';
}

/**
 * A sign-in that must be refused. With a random user name: failures with a real one could lock its account.
 */
async function examineWrongPassword(examination: Examination): Promise<void> {
  const { calls, findings } = examination;
  if (examination.isOver) return;
  await signIn(examination, { username: randomText(), password: randomText() });
  const answer = calls.answers.at(-1);
  if (!answer) return;
  const text = `A sign-in of an unknown user answers ${described(answer)}`;
  if (answer.kind === 'failure') findings.unknown('wrong-password', `${text}. ${failureText(answer)}`);
  else {
    const outcome = callOutcomeOf('sign_in', answer.status) ?? 'unavailable';
    if (answer.status < 300) findings.fail('wrong-password', `${text}: the service signs in anyone.`);
    else if (outcome === 'rejected')
      findings.ok('wrong-password', `${text}, which is CredentialsRejectedError (401).`);
    else findings.warn('wrong-password', `${text}, which is ${ERRORS[outcome]} in signIn(), not 401.`);
  }
}

/** The errors of `signIn()`. */
const ERRORS = {
  done: 'no error',
  accepted: 'no error',
  invalid: 'InvalidRequestError (400)',
  rejected: 'CredentialsRejectedError (401)',
  denied: 'AccessDeniedError (403)',
  limited: 'TooManyAttemptsError (429)',
  unavailable: 'SessionServiceUnavailableError (503)',
} as const;

/** Signs the session out, and presents its token again. */
async function examineSignOut(examination: Examination, session: OpenSession): Promise<void> {
  const [token = ''] = session.tokens;
  if (!(await hasSignedOut(examination, token)) || !(await isRefused(examination, token))) return;
  await examineSecondSignOut(examination, token);
}

/** Returns whether the session should have ended now. */
async function hasSignedOut({ calls, findings }: Examination, token: string): Promise<boolean> {
  const answer = await calls.signOut(token);
  if (answer.kind === 'failure') {
    findings.fail('sign-out', failureText(answer));
    return false;
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
  return status < 300;
}

async function isRefused({ calls, findings, refusals }: Examination, token: string): Promise<boolean> {
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
  }
  return refusals.endedToken !== undefined;
}

async function examineSecondSignOut({ calls, findings, isOver }: Examination, token: string): Promise<void> {
  if (isOver) return;
  const again = await calls.signOut(token);
  const text = `A second sign-out answers ${described(again)}`;
  if (again.kind === 'reply' && callOutcomeOf('sign_out', again.status) === 'done')
    findings.ok('second-sign-out', `${text}, and signOut() resolves.`);
  else findings.warn('second-sign-out', `${text}, and signOut() rejects.`);
}

const newIv = (): string => randomBytes(16).toString('base64');

/**
 * Opens a second session with an X-AUTH-IV, and reads its user with this one, with none and with another one.
 */
async function examineIv(examination: Examination, account: Account): Promise<void> {
  if (examination.isOver) return;
  const { calls, findings, secrets } = examination;
  const [authIv, otherIv] = [newIv(), newIv()];
  secrets.add(authIv, otherIv);
  const session = await signIn(examination, account, authIv);
  const signedIn = calls.answers.at(-1);
  if (!session) {
    const maybe = isUnclear(statusOf(signedIn)) ? MAY_BE_OPEN : '';
    findings.unknown(
      'iv',
      `What X-AUTH-IV is for: a sign-in with a random one answers ${signedIn ? described(signedIn) : 'nothing'}.${maybe}`,
    );
    return;
  }
  const [token = ''] = session.tokens;
  const own = await calls.userDetails(token, { [AUTH_IV_HEADER]: authIv });
  const none = await calls.userDetails(token);
  const other = await calls.userDetails(token, { [AUTH_IV_HEADER]: otherIv });
  describeIv(examination, own, none, other);
  await calls.signOut(token, { [AUTH_IV_HEADER]: authIv });
}

function describeIv(
  { findings, options, refusals }: Examination,
  own: Answer,
  none: Answer,
  other: Answer,
): void {
  const accepts = [own, none, other].map((answer) => statusOf(answer) === 200);
  const statuses = `(own IV: ${described(own)}, none: ${described(none)}, another: ${described(other)})`;
  if (accepts[0] === false && accepts[1] === true) {
    options.forwardAuthIv = false;
    findings.warn(
      'iv',
      `user_details refuses the X-AUTH-IV of the sign-in, and accepts the token without it ${statuses}.`,
    );
    return;
  }
  if (accepts[0] === false) {
    findings.unknown(
      'iv',
      `How X-AUTH-IV works: a session that was opened with one is not accepted ${statuses}.`,
    );
    return;
  }
  if (accepts[1] === false) refusals.noIv = none;
  if (accepts[2] === false) refusals.otherIv = other;
  if (accepts[2] === false)
    findings.ok(
      'iv',
      `A session is bound to the X-AUTH-IV of its sign-in ${statuses}. Callers present it with the token.`,
    );
  else
    findings.ok(
      'iv',
      `user_details accepts a session with any X-AUTH-IV ${statuses}. forwardAuthIv: false is possible.`,
    );
}
