import { type ReplyReader, verdictOf } from '../../../session-auth/src/client/user-details-verdict.js';
import {
  isRefusal,
  type RefusalStatus,
  type StatusMeaning,
} from '../../../session-auth/src/contract/status-outcomes.js';
import type { UserRecord } from '../../../session-auth/src/contract/record/user-record.js';
import { DEFAULTS } from '../../../session-auth/src/module/settings/option-table.js';
import { hasBody, type ReplyAnswer, tokenIn } from '../calls/answer.js';
import { type Secrets, TOKENS } from '../calls/secrets.js';
import type { Examination } from './examination.js';
import { readUser } from './reading.js';

/**
 * Derives `statusMap`: a status that invalid sessions get is `unauthenticated`; one that only a wrong key or
 * a wrong path gets is `unavailable`, so that no user is blamed for it. Ambiguous
 * statuses stay `unauthenticated`, and a check reports them.
 */
export function adviseStatusMap({ options, refusals }: Examination, junk: ReplyAnswer): void {
  const sessions = refusalsIn([junk, refusals.endedToken, refusals.noIv, refusals.otherIv]);
  const configurations = refusalsIn([refusals.wrongKey, refusals.noKey, refusals.wrongPath]);
  const statuses = new Set(sessions.map(({ status }) => status));
  const map: Partial<Record<RefusalStatus, StatusMeaning>> = {};
  for (const reply of sessions) if (!isUnauthenticated(reply)) map[reply.status] = 'unauthenticated';
  for (const reply of configurations)
    if ((isUnauthenticated(reply) || reply.status === 403) && !statuses.has(reply.status))
      map[reply.status] = 'unavailable';
  if (Object.keys(map).length > 0) options.statusMap = { ...map, ...options.statusMap };
}

type Refusal = ReplyAnswer & { readonly status: RefusalStatus };

function isUnauthenticated(reply: Refusal): boolean {
  return reply.status === 404 ? !hasBody(reply) : reply.status !== 403;
}

function refusalsIn(replies: readonly (ReplyAnswer | undefined)[]): Refusal[] {
  return replies.filter((reply): reply is Refusal => reply !== undefined && isRefusal(reply.status));
}

export function examineLeaks({ replies, findings, secrets }: Examination): void {
  const kinds = new Set(replies.flatMap((reply) => leaksIn(reply, secrets)));
  if (kinds.size > 0)
    findings.warn(
      'secrets-in-replies',
      `Replies repeat ${[...kinds].join(', ')}. Logs and caches on the way would keep it.`,
    );
}

function leaksIn(reply: ReplyAnswer, secrets: Secrets): readonly string[] {
  // Records hold the token by the interface.
  const isRecord = reply.status < 300 && tokenIn(reply) !== undefined;
  const body = reply.body?.toString('latin1') ?? '';
  return [
    ...secrets.kindsIn(JSON.stringify(reply.headers)),
    ...secrets.kindsIn(body).filter((kind) => !(isRecord && kind === TOKENS)),
  ];
}

const ignore = (): void => undefined;

/** Asks the code of the library itself for the verdicts of the guard with the advised options. */
export function examineVerdicts(
  { findings, junkToken, options, sessionAnswer }: Examination,
  junkReply: ReplyAnswer,
): void {
  const reader: ReplyReader<UserRecord> = {
    statusMap: options.statusMap ?? {},
    tokenEcho: options.tokenEcho ?? DEFAULTS.tokenEcho,
    readUser,
    reports: { occurred: ignore, attemptFailed: ignore, unlistedStatus: ignore },
    renew: ignore,
  };
  const junk = verdictOf(junkReply, junkToken, reader).kind;
  const session = sessionAnswer && verdictOf(sessionAnswer.reply, sessionAnswer.token, reader).kind;
  const text = 'With these options, the guard';
  if (junk !== 'unauthenticated') findings.fail('guard', `${text} finds a junk token ${junk}.`);
  else if (session === undefined)
    findings.unknown('guard', `${text} answers 401 to a junk token. No valid session was examined.`);
  else if (session !== 'authenticated') findings.fail('guard', `${text} finds a valid session ${session}.`);
  else findings.ok('guard', `${text} accepts the session, and answers 401 to a junk token.`);
}
