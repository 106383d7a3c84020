import { isRedirect, statusOf } from '../calls/answer.js';
import type { Examination } from '../examination.js';

/** Where user_details does not seem to exist, tries its path with a slash at its end, which the library never sends. */
export async function examineSlash(examination: Examination): Promise<void> {
  const { calls, findings, junkToken, refusals } = examination;
  const junk = refusals.junkToken;
  if (junk?.kind !== 'reply' || examination.isOver) return;
  if (junk.status !== 404 && !isRedirect(junk)) return;
  const answer = await calls.userDetails({ token: junkToken, suffix: '/' });
  const status = statusOf(answer);
  if (status === 400 || status === 401 || status === 403)
    findings.fail(
      'trailing-slash',
      `Only the path with a slash at its end is user_details (${status}). The library sends none: let the gateway accept both.`,
    );
}
