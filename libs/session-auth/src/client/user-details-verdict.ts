import {
  FORBIDDEN,
  UNAUTHENTICATED,
  unavailable,
  type Unavailable,
  type Verdict,
} from '../contract/outcome.js';
import { AFFECTED, type CauseReports } from '../contract/causes.js';
import type { CallMessage } from '../contract/diagnostics.js';
import { readUser, type ReadUser, type UserRecord } from '../contract/record/user-record.js';
import {
  isRefusal,
  REFUSAL_OUTCOMES,
  unavailableReasonOf,
  type RefusalStatus,
  type StatusMap,
} from '../contract/status-outcomes.js';
import { type Answer, readCacheForMs, readJsonObject, readRetryAfterSeconds, type Reply } from './reply.js';

/** Receives what replies show. Called each time; the implementation limits what is logged. */
export interface ReplyReports extends Pick<CauseReports, 'occurred'> {
  /** The interface does not list this status, whose meaning is plain. */
  unlistedStatus(operation: CallMessage['operation'], status: number): void;
}

/**
 * Treatment of a reply to user_details that has a different `auth_token` than was presented. @default 'deny'
 */
export type TokenEcho = 'ignore' | 'warn' | 'deny';

/** How replies are read, by the options. */
export interface VerdictSettings {
  readonly statusMap: StatusMap;
  readonly tokenEcho: TokenEcho;
  /** Lifetimes of cache entries, in milliseconds, which the service can shorten. `undefined`: no cache. */
  readonly cache?: { readonly ttlMs: number; readonly negativeTtlMs: number } | undefined;
}

/** The parts that read replies. */
export interface ReplyReader<User> extends VerdictSettings {
  readonly readUser: ReadUser<User>;
  readonly reports: ReplyReports;
  /** Called if a connection may deliver each reply to the next caller. */
  readonly renew: () => void;
}

export function verdictOf<User extends UserRecord>(
  answer: Answer,
  presentedToken: string,
  reader: ReplyReader<User>,
): Verdict<User> {
  if (!('status' in answer)) return answer;
  if (answer.status === 200) return authenticated(answer, presentedToken, reader);
  return isRefusal(answer.status)
    ? refused(answer, answer.status, reader)
    : outage('user_details', answer, reader.reports);
}

function authenticated<User extends UserRecord>(
  reply: Reply,
  presentedToken: string,
  reader: ReplyReader<User>,
): Verdict<User> {
  const { tokenEcho, cache, reports } = reader;
  const record = recordIn('user_details', reply, reader);
  if (!record) return unavailable('malformed');
  const token = record.user.auth_token;
  if (token !== undefined && token !== presentedToken && tokenEcho !== 'ignore') {
    reports.occurred('token mismatch');
    if (tokenEcho !== 'warn') {
      reader.renew();
      return unavailable('malformed');
    }
  }
  const cacheForMs = readCacheForMs(reply.headers, cache?.ttlMs);
  if (cacheForMs === undefined) return { kind: 'authenticated', ...record };
  if (cacheForMs === 0) reports.occurred('caching forbidden');
  return { kind: 'authenticated', ...record, cacheForMs };
}

function refused(
  reply: Reply,
  status: RefusalStatus,
  { statusMap, cache, reports }: ReplyReader<unknown>,
): Verdict<never> {
  const mapped = statusMap[status];
  if (status === 404 && mapped === undefined && reply.body?.length !== 0)
    return outage('user_details', reply, reports, '404 with a body');
  const meaning = mapped ?? REFUSAL_OUTCOMES[status];
  if (meaning === 'unavailable')
    return outage('user_details', reply, reports, `${status} ('unavailable' by statusMap)`);
  if (meaning === 'forbidden') {
    if (mapped === undefined) reports.occurred('access refused', AFFECTED.user_details);
    return FORBIDDEN;
  }
  const cacheForMs = readCacheForMs(reply.headers, cache?.negativeTtlMs);
  return cacheForMs === undefined ? UNAUTHENTICATED : { ...UNAUTHENTICATED, cacheForMs };
}

/**
 * Returns the body of a success and its user; `undefined` if it is not a user. Reports it, unless the reader
 * has said why.
 */
export function recordIn<User>(
  operation: 'user_details' | 'sign_in',
  reply: Reply,
  { readUser: read, reports }: ReplyReader<User>,
): { readonly user: User; readonly json: object } | undefined {
  const json = readJsonObject(reply);
  const user = json && readUser(json, read, () => unusable(operation, reply, reports, UNREADABLE));
  if (!json) unusable(operation, reply, reports, unreadBody(reply));
  return json && user !== undefined ? { user, json } : undefined;
}

/** A success lacks or has something, and what to check. */
type Problem = readonly [what: string, check: string];

const NO_JSON: Problem = [
  'without a JSON object',
  'baseUrl, http.maxResponseBytes, and any proxy in between',
];
const UNREADABLE: Problem = ['with a record by which code of userRecord threw an error', 'userRecord'];
export const NO_TOKEN: Problem = [
  'without auth_token, which must be visible ASCII of at most http.maxTokenLength characters',
  'the reply, or map its token: userRecord takes a schema',
];
const UNENCODED =
  'that neither it nor a proxy encodes these replies: calls ask for none (Accept-Encoding: identity)';

/** Reports a success without what it must have. */
export function unusable(
  operation: 'user_details' | 'sign_in',
  { status }: Reply,
  reports: ReplyReports,
  [what, check]: Problem,
): void {
  reports.occurred('unusable reply', AFFECTED[operation], `${status} ${what}`, AFFECTED[operation], check);
}

/** Returns why a body is no JSON object: it may have an encoding, for which it was not read. */
function unreadBody({ headers }: Reply): Problem {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return NO_JSON;
  const name = typeof encoding === 'string' && /^[\w.-]{1,20}$/.test(encoding) ? encoding : 'an unknown one';
  return [`with Content-Encoding: ${name}`, UNENCODED];
}

/** Returns the verdict on a reply that is not a usable answer, and reports a status that has no meaning. */
export function outage(
  operation: CallMessage['operation'],
  { status, headers }: Reply,
  reports: ReplyReports,
  what = String(status),
): Unavailable {
  const reason = unavailableReasonOf(status);
  const calls = AFFECTED[operation];
  if (reason === 'unexpected_status') reports.occurred('unexpected reply', calls, what, calls);
  return unavailable(reason, readRetryAfterSeconds(headers['retry-after']));
}
