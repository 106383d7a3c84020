import { randomBytes } from 'node:crypto';
import { described, statusOf, type Answer } from '../../calls/answer.js';
import type { Examination } from '../examination.js';
import type { OpenSessions } from '../../calls/open-sessions.js';
import { MAY_BE_OPEN, signIn } from './sign-in.js';

const newIv = (): string => randomBytes(16).toString('base64');

/** Opens a second session with an X-AUTH-IV, and reads its user with this one, with none and with another one. */
export async function examineIv(examination: Examination, sessions: OpenSessions): Promise<void> {
  if (examination.isOver) return;
  const { calls, findings, secrets } = examination;
  const [authIv, otherIv] = [newIv(), newIv()];
  secrets.add(authIv, otherIv);
  const session = await signIn(examination, sessions, authIv);
  const signedIn = calls.answers.at(-1);
  if (!session) {
    const maybe = statusOf(signedIn) === undefined || statusOf(signedIn) === 200 ? MAY_BE_OPEN : '';
    findings.unknown(
      'iv',
      `What X-AUTH-IV is for: a sign-in with a random one answers ${signedIn ? described(signedIn) : 'nothing'}.${maybe}`,
    );
    return;
  }
  const [token = ''] = session.tokens;
  const own = await calls.userDetails({ token, authIv });
  const none = await calls.userDetails({ token });
  const other = await calls.userDetails({ token, authIv: otherIv });
  describeIv(examination, own, none, other);
  const answer = await calls.signOut(token, authIv);
  if (statusOf(answer) === 200) sessions.ended(session);
}

function describeIv({ findings, options, refusals }: Examination, own: Answer, none: Answer, other: Answer): void {
  const accepts = [own, none, other].map((answer) => statusOf(answer) === 200);
  const statuses = `(own IV: ${described(own)}, none: ${described(none)}, another: ${described(other)})`;
  if (accepts[0] === false && accepts[1] === true) {
    options.forwardAuthIv = false;
    findings.warn('iv', `user_details refuses the X-AUTH-IV of the sign-in, and accepts the token without it ${statuses}.`);
    return;
  }
  if (accepts[0] === false) {
    findings.unknown('iv', `How X-AUTH-IV works: a session that was opened with one is not accepted ${statuses}.`);
    return;
  }
  if (accepts[1] === false) refusals.noIv = none;
  if (accepts[2] === false) refusals.otherIv = other;
  if (accepts[2] === false)
    findings.ok('iv', `A session is bound to the X-AUTH-IV of its sign-in ${statuses}. Callers present it with the token.`);
  else findings.ok('iv', `user_details accepts a session with any X-AUTH-IV ${statuses}. forwardAuthIv: false is possible.`);
}
