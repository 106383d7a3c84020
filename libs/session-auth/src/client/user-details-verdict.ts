import type { IncomingHttpHeaders } from 'node:http';
import {
  FORBIDDEN,
  UNAUTHENTICATED,
  unavailable,
  type Unavailable,
  type UnavailableReason,
  type Verdict,
} from '../contract/outcome.js';
import { AFFECTED, type CauseReports } from '../contract/causes.js';
import type { CallMessage } from '../contract/diagnostics.js';
import {
  readUser,
  type ReadUser,
  type ReportInvalid,
  type UserRecord,
} from '../contract/record/user-record.js';
import {
  isRefusal,
  REFUSAL_OUTCOMES,
  unavailableReasonOf,
  type RefusalStatus,
  type StatusMap,
} from '../contract/status-outcomes.js';
import {
  type Answer,
  isJson,
  isReadable,
  readCacheForMs,
  readJsonObject,
  readRetryAfterSeconds,
  type Reply,
} from './reply.js';

/** Receives what replies show. Called each time; the implementation limits what is logged. */
export interface ReplyReports extends Pick<CauseReports, 'occurred'> {
  /** An attempt failed, for this reason and with this status. Its call may be tried again. */
  attemptFailed(reason: UnavailableReason, met: string): void;
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
    return outage('user_details', reply, reports, ['404 with a body', NOT_FOUND]);
  const meaning = mapped ?? REFUSAL_OUTCOMES[status];
  if (meaning === 'unavailable')
    return outage('user_details', reply, reports, [
      `${status} ('unavailable' by statusMap)`,
      'Check apiKey and baseUrl',
    ]);
  if (meaning === 'forbidden') {
    if (mapped === undefined)
      reports.occurred('access refused', AFFECTED.user_details, AFFECTED.user_details, MAPPED_403);
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
  const refuse: ReportInvalid = (field, requirement) => {
    const where = `${operation} answered ${reply.status}`;
    reports.occurred('invalid user record', field, where, requirement, REFUSED);
  };
  const user = json && readUser(json, read, refuse, () => unusable(operation, reply, reports, UNREADABLE));
  if (!json) unusable(operation, reply, reports, unreadBody(reply));
  return json && user !== undefined ? { user, json } : undefined;
}

/** The status of a reply with what it has or lacks, and the remedy. */
type Problem = readonly [what: string, check: string];

const MAPPED_403 =
  "; if the service refuses users or ended sessions so, set statusMap: { 403: 'forbidden' } or { 403: 'unauthenticated' }";
const REFUSED =
  'Its user gets 503 while the session service answers so. Correct the record there, or map it: userRecord.';
const IN_ITS_PLACE = 'that baseUrl is the session service, with nothing that answers in its place';
const NOT_FOUND = `Check ${IN_ITS_PLACE}; if it answers so to ended sessions, set statusMap: { 404: 'unauthenticated' }`;
const UNMAPPED = `Check ${IN_ITS_PLACE}. No option maps this status: a gateway can`;
const UNREADABLE: Problem = ['with a record by which code of userRecord threw an error', 'userRecord'];
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

/** Returns what is wrong with the token of a sign-in. */
export function tokenProblem(token: string | undefined, maxLength: number): Problem {
  if (!token) return ['without auth_token', 'the reply, or map its token: userRecord takes a schema'];
  return token.length > maxLength
    ? [`with an auth_token of more than ${maxLength} characters`, 'http.maxTokenLength']
    : ['with an auth_token that is not visible ASCII', 'the reply: no header can have such a token'];
}

/** Returns why a body is no JSON object: it may not have been read. */
function unreadBody({ headers, body }: Reply): Problem {
  const { 'content-encoding': encoding, 'content-type': type } = headers;
  if (encoding !== undefined && encoding !== 'identity')
    return [`with Content-Encoding: ${named(encoding)}`, UNENCODED];
  if (!isReadable(headers as IncomingHttpHeaders, Infinity))
    return ['with a Transfer-Encoding other than chunked', UNENCODED];
  if (!body) return ['with a body longer than http.maxResponseBytes', 'what it sends, or raise that limit'];
  if (body.length === 0) return ['without a body', IN_ITS_PLACE];
  if (isJson(type)) return ['without a JSON object in UTF-8', 'what it sends: no option maps that'];
  return [
    `with the content-type ${named(type)} in place of JSON`,
    `${IN_ITS_PLACE}, and that it sends application/json`,
  ];
}

/** A short word, or a media type without its parameters: not every header may be in a log. */
const WORD = /^(?:(?:text|application)\/)?[\w.+-]{1,20}(?=;|$)/;

function named(value: unknown): string {
  const [word] = typeof value === 'string' ? (WORD.exec(value) ?? []) : [];
  return word ?? 'an unknown one';
}

/** Returns the verdict on a reply that is not a usable answer, and reports a status that has no meaning. */
export function outage(
  operation: CallMessage['operation'],
  { status, headers }: Reply,
  reports: ReplyReports,
  problem?: Problem,
): Unavailable {
  const reason = unavailableReasonOf(status);
  if (reason === 'unexpected_status') {
    const calls = AFFECTED[operation];
    const [what, check] = problem ?? [String(status), checkOf(status)];
    reports.occurred('unexpected reply', calls, what, calls, check);
  } else reports.attemptFailed(reason, String(status));
  return unavailable(reason, readRetryAfterSeconds(headers['retry-after']));
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Returns what to do about a status that no option maps. */
function checkOf(status: number): string {
  if (status === 407) return 'A proxy asks for credentials: set http.proxy';
  if (REDIRECTS.has(status)) return 'No redirect is followed: set baseUrl to the address that it leads to';
  return UNMAPPED;
}
