import type { Examination } from '../examination.js';
import { examineIv } from './iv.js';
import { OpenSessions } from '../../calls/open-sessions.js';
import { examineSignIn, examineWrongPassword } from './sign-in.js';
import { examineSignOut } from './sign-out.js';
import { examineKeysOfSession, examineUserDetails } from './user-details.js';

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
export async function examineSession(examination: Examination): Promise<void> {
  const sessions = new OpenSessions();
  try {
    const session = await examineSignIn(examination, sessions);
    if (!session || !(await examineUserDetails(examination, session))) return;
    await examineKeysOfSession(examination, session);
    if (examination.isOver) return;
    await examineSignOut(examination, session, sessions);
    await examineIv(examination, sessions);
    await examineWrongPassword(examination, sessions);
  } finally {
    await endSessions(examination, sessions);
  }
}

async function endSessions({ calls, findings }: Examination, sessions: OpenSessions): Promise<void> {
  const left = await sessions.endAll((token, authIv) => calls.signOut(token, authIv));
  for (let session = 0; session < left; session += 1)
    findings.fail('session-left-open', 'A session of the examination could not be signed out. It ends when it expires.');
}
