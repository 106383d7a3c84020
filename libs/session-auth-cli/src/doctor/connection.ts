import { isTlsCode, readJsonObject } from '../../../session-auth/src/client/reply.js';
import { USER_DETAILS_PATH } from '../../../session-auth/src/contract/wire.js';
import { failureText, hasBody, isRedirect, isWebPage, type ReplyAnswer } from '../calls/answer.js';
import type { Examination } from './examination.js';

const LOOPBACK = /^(?:localhost|127\.|\[::1\])/;

/**
 * Returns the answer to a token that was never issued, if it is one of a session service as far as it shows.
 */
export async function examineConnection(examination: Examination): Promise<ReplyAnswer | undefined> {
  const { calls, findings, junkToken, settings } = examination;
  examineAddress(examination);
  const answer = await calls.userDetails(junkToken);
  if (answer.kind === 'failure') {
    findings.fail(isTlsCode(answer.code) ? 'tls' : 'reachable', failureText(answer));
    return undefined;
  }
  const isTls = settings.url.startsWith('https:');
  findings.ok('reachable', `The service replies${isTls ? ', over TLS with a trusted certificate' : ''}.`);
  return isService(examination, answer) ? answer : undefined;
}

function examineAddress({ env, findings, settings }: Examination): void {
  const { protocol, host } = new URL(settings.url);
  if (protocol === 'http:' && !LOOPBACK.test(host))
    findings.warn(
      'plain-text',
      'The URL is http: and not of this host. Keys, tokens and passwords travel unencrypted. Use https.',
    );
  const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
  const set = names.filter((name) => (env[name] ?? '') !== '');
  if (set.length > 0)
    findings.warn(
      'proxy',
      `${set.join(', ')}: set, and ignored here and by the library. If the service is behind a proxy, set http.proxy.`,
    );
}

function isService(examination: Examination, answer: ReplyAnswer): boolean {
  const { findings } = examination;
  const problem = problemOf(answer);
  if (isRedirect(answer)) findings.fail('redirects', redirectText(examination, answer));
  else if (problem !== undefined)
    findings.fail(answer.status === 429 ? 'rate-limit' : 'session-service', problem);
  return problem === undefined;
}

function problemOf(answer: ReplyAnswer): string | undefined {
  const { status } = answer;
  if (status === 429) return rateLimitText(answer);
  if (status === 200 && readJsonObject(answer) !== undefined)
    return 'user_details answers 200 with JSON to a token that was never issued. The service accepts any token, or a test double answers.';
  if (isWebPage(answer) && status !== 404)
    return `user_details answers ${status} with a web page. This is not the session service: check the URL.`;
  if (status >= 500)
    return `user_details answers ${status} to a junk token. The service fails, or a gateway does not reach it.`;
  if (status === 407) return 'A proxy asks for credentials (407). Set http.proxy.';
  if (![400, 401, 403, 404].includes(status))
    return `user_details answers ${status} to a junk token, which the interface does not list.`;
  return undefined;
}

export function rateLimitText({ headers: { 'retry-after': after = '' } }: ReplyAnswer): string {
  const seconds = /^\d{1,9}$/.test(after)
    ? `with Retry-After: ${after} s`
    : 'without a Retry-After in seconds';
  return `The service limits the rate (429) ${seconds}. The guard answers 503 then. The examination stops here.`;
}

export function examineBodies({ findings, refusals, replies }: Examination): void {
  const refused = replies.filter(
    (reply) => reply.status >= 400 && reply.status < 500 && reply !== refusals.wrongPath,
  );
  const statuses = new Set(refused.filter(hasBody).map(({ status }) => status));
  if (statuses.size > 0)
    findings.warn(
      'bodies',
      `Refusals have bodies (${[...statuses].sort().join(', ')}), which the library does not read.${statuses.has(404) ? ' A 404 with a body does not refuse a session: the caller gets 503, unless statusMap says what 404 means.' : ''}`,
    );
  else findings.ok('bodies', 'Refusals have empty bodies, as the interface says.');
}

/**
 * No redirect is followed: key and password go nowhere else. Nor is its target printed as `baseUrl`: any
 * server or proxy on the way can send one, and it must not end up in the configuration unread.
 */
function redirectText(
  { secrets, settings: { url } }: Examination,
  { status, headers: { location = '' } }: ReplyAnswer,
): string {
  const from = new URL(`${url}${USER_DETAILS_PATH}`);
  const target = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  const root = target && rootOf(target);
  if (root !== undefined && root !== url && secrets.kindsIn(root).length === 0)
    return `${REDIRECTS} to ${root}, ${NOT_FOLLOWED} Neither key nor password was sent there. If it is your session service, run again with that --url.`;
  const isSlashAdded = target?.host === from.host && target.pathname === `${from.pathname}/`;
  return `${REDIRECTS} ${isSlashAdded ? 'to the same path with a slash at its end' : `(${status})`}, ${NOT_FOLLOWED}`;
}

const REDIRECTS = 'user_details redirects';
const NOT_FOLLOWED = 'and the library follows no redirect.';

/** The base URL of which an address is user_details; none if it is something else, such as a page. */
function rootOf({ protocol, origin, pathname, search, username, password }: URL): string | undefined {
  if (
    !/^https?:$/.test(protocol) ||
    !pathname.endsWith(USER_DETAILS_PATH) ||
    `${search}${username}${password}` !== ''
  )
    return undefined;
  return `${origin}${pathname.slice(0, -USER_DETAILS_PATH.length)}`.replace(/\/+$/, '');
}
