import { isSame, statusOf } from '../../calls/answer.js';
import type { Examination } from '../examination.js';

/** If user_details does not seem to exist, tries its path with a slash at its end, which the library never sends. Returns whether that one exists. */
export async function needsSlash(examination: Examination): Promise<boolean> {
  const { calls, findings, junkToken, refusals } = examination;
  const { junkToken: junk, wrongPath } = refusals;
  if (junk?.kind !== 'reply' || examination.isOver) return false;
  if (junk.status !== 404 || !wrongPath || !isSame(junk, wrongPath)) return false;
  const status = statusOf(await calls.userDetails({ token: junkToken, suffix: '/' }));
  const exists = status === 400 || status === 401 || status === 403;
  if (exists)
    findings.fail(
      'trailing-slash',
      `Only the path with a slash at its end is user_details (${status}). The library sends none: let the gateway accept both.`,
    );
  return exists;
}
