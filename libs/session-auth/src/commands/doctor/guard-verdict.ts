import { UserDetailsVerdicts, type VerdictSettings } from '../../client/user-details-verdict.js';
import { DEFAULTS } from '../../module/settings/defaults.js';
import type { Answer } from '../calls/answer.js';
import type { Examination } from './examination.js';
import { readUser } from './session/reading.js';

const NO_WARNINGS = { unexpectedReply: () => undefined, tokenMismatch: () => undefined, cachingForbidden: () => undefined };

/** Reports the verdicts of the guard on the replies with the advised options, by the code of the library itself. */
export function examineVerdicts({ findings, junkToken, options, refusals, sessionAnswer }: Examination): void {
  if (!refusals.junkToken) return;
  const settings: VerdictSettings = {
    statusMap: options.statusMap ?? {},
    tokenEcho: options.tokenEcho ?? DEFAULTS.tokenEcho,
  };
  const verdicts = new UserDetailsVerdicts(readUser, settings, NO_WARNINGS);
  const kindOf = (answer: Answer, token: string): string => (answer.kind === 'reply' ? verdicts.of(answer, token).kind : 'unavailable');
  const junk = kindOf(refusals.junkToken, junkToken);
  const session = sessionAnswer && kindOf(sessionAnswer.answer, sessionAnswer.token);
  if (junk !== 'unauthenticated') findings.fail('guard', `With these options, the guard finds a junk token ${junk}.`);
  else if (session !== undefined && session !== 'authenticated')
    findings.fail('guard', `With these options, the guard finds a valid session ${session}.`);
  else if (session === undefined)
    findings.unknown('guard', 'With these options, the guard answers 401 to a junk token. No valid session was examined.');
  else findings.ok('guard', 'With these options, the guard accepts the session, and answers 401 to a junk token.');
}
