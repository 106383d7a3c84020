import {
  API_KEY_HEADER,
  AUTH_TOKEN_HEADER,
  USER_DETAILS_PATH,
} from '../../../session-auth/src/contract/wire.js';
import {
  type Answer,
  described,
  type FailedAnswer,
  failureText,
  hasBody,
  isSame,
  type ReplyAnswer,
  statusOf,
} from '../calls/answer.js';
import { randomText } from '../calls/secrets.js';
import type { Examination, Refused } from './examination.js';

type Probe = readonly [name: Refused, send: () => Promise<Answer>];

/** Sends calls that a session service refuses. */
export async function examineRefusals(examination: Examination, junk: ReplyAnswer): Promise<void> {
  const { calls, junkToken, findings } = examination;
  const probes: readonly Probe[] = [
    ['noToken', () => calls.call({ method: 'GET', path: USER_DETAILS_PATH })],
    ...keyProbes(examination, junkToken),
    ['wrongPath', () => calls.userDetails(junkToken, {}, `/${randomText()}${USER_DETAILS_PATH}`)],
  ];
  const failed = (answer: FailedAnswer): void =>
    findings.warn('connection', `One call of the first ones failed. ${failureText(answer)}`);
  if (await sendProbes(examination, probes, failed)) examineTokens(examination, junk);
}

export function keyProbes({ calls }: Examination, token: string): readonly Probe[] {
  const headers = { [AUTH_TOKEN_HEADER]: token };
  return [
    ['noKey', () => calls.send({ method: 'GET', path: USER_DETAILS_PATH, headers })],
    ['wrongKey', () => calls.userDetails(token, { [API_KEY_HEADER]: randomText() })],
  ];
}

/** Sends the probes, and keeps their replies. Returns `false` if the examination is over before the last. */
export async function sendProbes(
  examination: Examination,
  probes: readonly Probe[],
  failed: (answer: FailedAnswer) => void = () => undefined,
): Promise<boolean> {
  for (const [name, send] of probes) {
    if (examination.isOver) return false;
    const answer = await send();
    if (answer.kind === 'reply') examination.refusals[name] = answer;
    else failed(answer);
  }
  return true;
}

function examineTokens({ findings, refusals: { noToken } }: Examination, junk: ReplyAnswer): void {
  findings.ok('junk-token', `user_details answers ${described(junk)} to a token that was never issued.`);
  if (!noToken) return;
  const text = `user_details answers ${described(noToken)} without a token`;
  if (isGranted(noToken)) findings.fail('no-token', `${text}: it is open, or a cache or gateway answers.`);
  else findings.ok('no-token', `${text}. The library never calls it so.`);
}

function isGranted({ status }: ReplyAnswer): boolean {
  return status < 300;
}

/** Called last: a session shows that this is the session service. */
export function examinePath(
  { findings, refusals: { wrongPath }, sessionAnswer, settings: { account } }: Examination,
  junk: ReplyAnswer,
): void {
  if (!wrongPath) {
    findings.unknown('wrong-path', 'Whether a wrong baseUrl would be noticed: the call brought no reply.');
    return;
  }
  const text = `A path that does not exist answers ${described(wrongPath)}`;
  if (!isSame(wrongPath, junk)) findings.ok('wrong-path', `${text}, unlike a junk token.`);
  else if (wrongPath.status === 404 && hasBody(wrongPath) && !sessionAnswer)
    findings.fail(
      'session-service',
      `${text}, as user_details does. This is probably not the session service: check the URL${account ? '' : ', or show with --user that users can sign in'}. The library calls /authentication/user_details below baseUrl, a path that no option changes.`,
    );
  else
    findings.warn(
      'wrong-path',
      `${text}, as a junk token. A wrong baseUrl is silent: every user gets 401. Watch the log for the first hours.`,
    );
}

/** Called last: a session shows more than a junk token. */
export function examineKeys(
  { findings, refusals: { noKey, wrongKey } }: Examination,
  junk: ReplyAnswer,
): void {
  for (const [id, name, answer] of [
    ['wrong-key', 'a wrong key', wrongKey],
    ['no-key', 'no key', noKey],
  ] as const) {
    if (!answer) {
      findings.unknown(id, `How the service answers to ${name}: the call brought no reply.`);
      continue;
    }
    const text = `user_details answers ${described(answer)} to ${name}`;
    if (isGranted(answer)) findings.warn(id, `${text}: it does not check the key.`);
    else if (isSame(answer, junk))
      findings.warn(
        id,
        `${text}, as to a junk token. The guard can't distinguish them: a wrong apiKey shows as 401 for every user.`,
      );
    else findings.ok(id, `${text}, unlike to a junk token.`);
  }
}

/** Returns whether user_details exists only with a slash at its end, which the library never sends. */
export async function needsSlash(examination: Examination, junk: ReplyAnswer): Promise<boolean> {
  const { calls, findings, isOver, junkToken, refusals } = examination;
  const { wrongPath } = refusals;
  if (isOver || junk.status !== 404 || !wrongPath || !isSame(junk, wrongPath)) return false;
  const status = statusOf(await calls.userDetails(junkToken, {}, `${USER_DETAILS_PATH}/`));
  const exists = status === 400 || status === 401 || status === 403;
  if (exists)
    findings.fail(
      'trailing-slash',
      `Only the path with a slash at its end is user_details (${status}). The library sends none: let the gateway accept both.`,
    );
  return exists;
}
