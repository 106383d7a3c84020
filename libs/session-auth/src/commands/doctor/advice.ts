import { hasBody, type Answer, type ReplyAnswer } from '../calls/answer.js';
import { isRefusal, type RefusalStatus, type StatusMeaning } from '../../contract/status-outcomes.js';
import type { Examination } from './examination.js';

/**
 * Derives `statusMap`: a status that invalid sessions get is `unauthenticated`; one that only a wrong key or a wrong path gets is `unavailable`, so
 * that users are not asked to sign in again because of it. Ambiguous statuses stay `unauthenticated`, and a check reports them.
 */
export function adviseStatusMap({ options, refusals }: Examination): void {
  const sessions = refusalsIn([refusals.junkToken, refusals.endedToken, refusals.noIv, refusals.otherIv]);
  const configurations = refusalsIn([refusals.wrongKey, refusals.noKey, refusals.wrongPath]);
  const statuses = new Set(sessions.map(({ status }) => status));
  const map: Partial<Record<RefusalStatus, StatusMeaning>> = {};
  for (const reply of sessions) if (!isUnauthenticated(reply)) map[reply.status] = 'unauthenticated';
  for (const reply of configurations) if (isUnauthenticated(reply) && !statuses.has(reply.status)) map[reply.status] = 'unavailable';
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
