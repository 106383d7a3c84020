import { type DrivenReply } from '../load/load-driver.js';
import { type MarkKind } from '../messages.js';

const ADMITTED: Readonly<Record<string, MarkKind>> = { cache: 'cached', joined: 'joined', service: 'asked' };

/** Returns the outcome of a request, from its status and the source of its verdict. */
export function kindOfReply({ status, answeredBy }: Pick<DrivenReply, 'status' | 'answeredBy'>): MarkKind {
  const [who = ''] = answeredBy.split(';');
  if (status === 503) return who === 'breaker' ? 'turnedBack' : 'unavailable';
  if (status === 401 || status === 403) return 'denied';
  return ADMITTED[who] ?? 'open';
}

/** No requests. */
export function noRequests(): Record<MarkKind, number> {
  return { cached: 0, joined: 0, asked: 0, denied: 0, turnedBack: 0, unavailable: 0, open: 0 };
}
