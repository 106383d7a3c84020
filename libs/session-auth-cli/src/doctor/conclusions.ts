import {
  UserDetailsVerdicts,
  type VerdictSettings,
} from '../../../session-auth/src/client/user-details-verdict.js';
import {
  isRefusal,
  type RefusalStatus,
  type StatusMeaning,
} from '../../../session-auth/src/contract/status-outcomes.js';
import { DEFAULTS } from '../../../session-auth/src/module/settings/schema.js';
import { type Answer, hasBody, type ReplyAnswer, tokenIn } from '../calls/answer.js';
import type { Examination } from './examination.js';
import { readUser } from './reading.js';

/**
 * Derives `statusMap`: a status that invalid sessions get is `unauthenticated`; one that only a wrong key or
 * a wrong path gets is `unavailable`, so that users are not asked to sign in again because of it. Ambiguous
 * statuses stay `unauthenticated`, and a check reports them.
 */
export function adviseStatusMap({ options, refusals }: Examination): void {
  const sessions = refusalsIn([refusals.junkToken, refusals.endedToken, refusals.noIv, refusals.otherIv]);
  const configurations = refusalsIn([refusals.wrongKey, refusals.noKey, refusals.wrongPath]);
  const statuses = new Set(sessions.map(({ status }) => status));
  const map: Partial<Record<RefusalStatus, StatusMeaning>> = {};
  for (const reply of sessions) if (!isUnauthenticated(reply)) map[reply.status] = 'unauthenticated';
  for (const reply of configurations)
    if (isUnauthenticated(reply) && !statuses.has(reply.status)) map[reply.status] = 'unavailable';
  if (Object.keys(map).length > 0) options.statusMap = map;
}

/** A refusal that the interface lists. */
type Refusal = ReplyAnswer & { readonly status: RefusalStatus };

/** Whether a refusal is `unauthenticated` by default. */
function isUnauthenticated(reply: Refusal): boolean {
  return reply.status === 404 ? !hasBody(reply) : reply.status !== 403;
}

function refusalsIn(answers: readonly (Answer | undefined)[]): Refusal[] {
  return answers.filter((answer): answer is Refusal => answer?.kind === 'reply' && isRefusal(answer.status));
}

/**
 * Reports whether replies repeat a secret: logs and caches on the way would keep it. The record of a 200
 * holds the token by the interface.
 */
export function examineLeaks({ calls, findings, secrets }: Examination): void {
  const texts = calls.answers.map((answer) => textOf(answer));
  if (texts.some((text) => secrets.areIn(text)))
    findings.warn(
      'secrets-in-replies',
      'Replies repeat the key, the password, a token or an IV. Logs and caches on the way would keep it.',
    );
}

function textOf(answer: Answer): string {
  if (answer.kind === 'failure') return '';
  const isRecord = answer.status === 200 && tokenIn(answer) !== undefined;
  return `${JSON.stringify(answer.headers)}${isRecord ? '' : (answer.body?.toString('latin1') ?? '')}`;
}

const NO_WARNINGS = {
  unexpectedReply: () => undefined,
  unlistedStatus: () => undefined,
  unusableReply: () => undefined,
  accessRefused: () => undefined,
  tokenMismatch: () => undefined,
  cachingForbidden: () => undefined,
};

/**
 * Reports the verdicts of the guard on the replies with the advised options, by the code of the library
 * itself.
 */
export function examineVerdicts({
  findings,
  junkToken,
  options,
  refusals,
  sessionAnswer,
}: Examination): void {
  if (!refusals.junkToken) return;
  const settings: VerdictSettings = {
    statusMap: options.statusMap ?? {},
    tokenEcho: options.tokenEcho ?? DEFAULTS.tokenEcho,
  };
  const verdicts = new UserDetailsVerdicts(readUser, settings, NO_WARNINGS);
  const kindOf = (answer: Answer, token: string): string =>
    answer.kind === 'reply' ? verdicts.of(answer, token).kind : 'unavailable';
  const junk = kindOf(refusals.junkToken, junkToken);
  const session = sessionAnswer && kindOf(sessionAnswer.answer, sessionAnswer.token);
  if (junk !== 'unauthenticated')
    findings.fail('guard', `With these options, the guard finds a junk token ${junk}.`);
  else if (session !== undefined && session !== 'authenticated')
    findings.fail('guard', `With these options, the guard finds a valid session ${session}.`);
  else if (session === undefined)
    findings.unknown(
      'guard',
      'With these options, the guard answers 401 to a junk token. No valid session was examined.',
    );
  else
    findings.ok(
      'guard',
      'With these options, the guard accepts the session, and answers 401 to a junk token.',
    );
}
