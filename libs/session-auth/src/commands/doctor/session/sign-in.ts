import { isHeaderValue } from '../../../contract/wire.js';
import { DEFAULTS } from '../../../module/settings/defaults.js';
import { type Answer, described, INTERRUPTED, type ReplyAnswer, tokenIn } from '../../calls/answer.js';
import { type Examination, randomText } from '../examination.js';
import { failureText } from '../../calls/failure-texts.js';
import type { OpenSession, OpenSessions } from '../../calls/open-sessions.js';
import { readUserRecord } from './reading.js';

/** The largest value of `http.maxTokenLength`. */
const MAX_TOKEN_LENGTH = 65_536;

/** Appended to the text of a sign-in that may have opened a session without returning its token. */
export const MAY_BE_OPEN = ' A session may have been opened; its token is unknown.';

/** Signs the user in, once: a second failure could lock the account. Returns the session. */
export function signIn(examination: Examination, sessions: OpenSessions, authIv?: string): Promise<OpenSession | undefined> {
  const { user = '', password = '' } = examination.settings;
  return signInAs(examination, sessions, { username: user, password, authIv });
}

async function signInAs(
  examination: Examination,
  sessions: OpenSessions,
  { username, password, authIv }: { readonly username: string; readonly password: string; readonly authIv: string | undefined },
): Promise<OpenSession | undefined> {
  const answer = await examination.calls.signIn(username, password, authIv);
  const token = answer.kind === 'reply' && answer.status < 300 ? tokenIn(answer) : undefined;
  if (token === undefined) return undefined;
  examination.secrets.add(token);
  return sessions.add(token, authIv);
}

/** The first sign-in. Returns its session if the library could use it. */
export async function examineSignIn(examination: Examination, sessions: OpenSessions): Promise<OpenSession | undefined> {
  const session = await signIn(examination, sessions);
  const answer = examination.calls.answers.at(-1);
  if (!answer || (answer.kind === 'failure' && answer.code === INTERRUPTED)) return undefined;
  const problem = signInProblem(answer, session?.tokens[0], examination);
  if (problem !== undefined || examination.calls.isInterrupted) return undefined;
  examination.findings.ok('sign-in', 'Signs in with 200, a valid user record and a token.');
  return session;
}

function signInProblem(answer: Answer, token: string | undefined, { findings, options }: Examination): string | undefined {
  const fail = (text: string): string => (findings.fail('sign-in', text), text);
  if (answer.kind === 'failure') return fail(`The sign-in brought no reply. ${failureText(answer)}${MAY_BE_OPEN}`);
  if (answer.status === 202) {
    findings.unknown(
      'sign-in',
      'The sign-in answers 202, which the interface does not explain: no session, and nothing to examine. Use another user.',
    );
    return '202';
  }
  if (answer.status !== 200) return fail(refusalText(answer));
  const reading = readUserRecord(answer);
  if ('problem' in reading) return fail(`The sign-in answers 200, but ${reading.problem}.${token === undefined ? MAY_BE_OPEN : ''}`);
  if (token === undefined) return fail(`The sign-in answers 200, but its record has no auth_token.${MAY_BE_OPEN}`);
  if (!isHeaderValue(token, MAX_TOKEN_LENGTH))
    return fail('The token holds other characters than visible ASCII, or is longer than 65536 bytes: no header can carry it.');
  if (token.length > DEFAULTS.http.maxTokenLength)
    options.http = { ...options.http, maxTokenLength: Math.min(MAX_TOKEN_LENGTH, 2 * token.length) };
  return undefined;
}

function refusalText(answer: ReplyAnswer): string {
  const text = `The sign-in answers ${described(answer)}`;
  if (answer.status === 401 || answer.status === 404) {
    const url = answer.status === 404 ? ', and the path of --url' : '';
    return `${text}: check --user and SESSION_SERVICE_PASSWORD${url}. It is not tried again, since that could lock the account.`;
  }
  if (answer.status === 403) return `${text}: check the key, and whether the user may sign in.`;
  if (answer.status === 429 || answer.status >= 500) return `${text}: the service fails, or limits sign-ins.`;
  return `${text}: the service does not understand the request, or redirects it.`;
}

/** A sign-in that must be refused. With a random user name: failures with a real one could lock its account. */
export async function examineWrongPassword(examination: Examination, sessions: OpenSessions): Promise<void> {
  const { calls, findings } = examination;
  if (examination.isOver) return;
  await signInAs(examination, sessions, { username: randomText(), password: randomText(), authIv: undefined });
  const answer = calls.answers.at(-1);
  if (!answer) return;
  const text = `A sign-in of an unknown user answers ${described(answer)}`;
  if (answer.kind === 'failure') findings.unknown('wrong-password', `${text}. ${failureText(answer)}`);
  else if (answer.status < 300) findings.fail('wrong-password', `${text}: the service signs in anyone.`);
  else if (answer.status === 401 || answer.status === 404)
    findings.ok('wrong-password', `${text}, which is CredentialsRejectedError (401).`);
  else findings.warn('wrong-password', `${text}, which is ${errorOf(answer.status)} in signIn(), not 401.`);
}

function errorOf(status: number): string {
  if (status === 400) return 'InvalidRequestError (400)';
  return status === 403 ? 'AccessDeniedError (403)' : 'SessionServiceUnavailableError (503)';
}
