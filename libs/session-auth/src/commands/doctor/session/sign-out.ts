import { described } from '../../calls/answer.js';
import type { Examination } from '../examination.js';
import { failureText } from '../../calls/failure-texts.js';
import type { OpenSession, OpenSessions } from '../../calls/open-sessions.js';

/** Signs the session out, and presents its token again. */
export async function examineSignOut(examination: Examination, session: OpenSession, sessions: OpenSessions): Promise<void> {
  const [token = ''] = session.tokens;
  if (!(await hasSignedOut(examination, token)) || !(await isRefused(examination, token))) return;
  sessions.ended(session);
  await examineSecondSignOut(examination, token);
}

/** Returns whether the session should have ended now. */
async function hasSignedOut({ calls, findings }: Examination, token: string): Promise<boolean> {
  const answer = await calls.signOut(token);
  if (answer.kind === 'failure') findings.fail('sign-out', failureText(answer));
  else if (answer.status === 200) findings.ok('sign-out', 'Signs out with 200.');
  else {
    const effect = [401, 404].includes(answer.status) ? 'which the library takes for a session that has ended' : 'so signOut() rejects';
    findings.fail('sign-out', `The sign-out answers ${described(answer)}, ${effect}. The interface says 200.`);
  }
  return answer.kind === 'reply' && answer.status < 300;
}

async function isRefused({ calls, findings, refusals }: Examination, token: string): Promise<boolean> {
  const after = await calls.userDetails({ token });
  if (after.kind === 'failure')
    findings.unknown('ended-token', 'Whether the token is refused after its sign-out: the call brought no reply.');
  else if (after.status === 200)
    findings.fail('ended-token', 'user_details accepts the token after its sign-out: the session did not end, or a cache answers.');
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
  if (again.kind === 'reply' && [200, 401, 404].includes(again.status)) findings.ok('second-sign-out', `${text}, and signOut() resolves.`);
  else findings.warn('second-sign-out', `${text}, and signOut() rejects.`);
}
