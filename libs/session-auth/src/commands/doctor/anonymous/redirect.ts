import { USER_DETAILS_PATH } from '../../../contract/wire.js';
import { isRedirect, type ReplyAnswer } from '../../calls/answer.js';
import type { Examination } from '../examination.js';

const FOLLOWS_NONE = 'the library follows no redirect';

/** Reports the target of a redirect. Returns whether the examination continues at another address of the same host. */
export function followRedirect(examination: Examination, answer: ReplyAnswer): boolean {
  if (!isRedirect(answer)) return false;
  const { calls, findings, options, secrets } = examination;
  const from = new URL(`${calls.baseUrl}${USER_DETAILS_PATH}`);
  const target = targetOf(answer, from);
  const root = target && rootOf(target);
  if (target && isSlashAdded(from, target))
    findings.fail('redirects', `user_details redirects to the same path with a slash at its end: ${FOLLOWS_NONE}, and sends none.`);
  if (!root || root === calls.baseUrl || secrets.areIn(root)) return false;
  const { hostname } = new URL(root);
  options.baseUrl = root;
  if (hostname !== from.hostname) {
    findings.fail(
      'redirects',
      `user_details redirects to ${root}, and ${FOLLOWS_NONE}. The key was not sent there: run again with that --url.`,
    );
    return false;
  }
  findings.warn('redirects', `user_details redirects to ${root}, and ${FOLLOWS_NONE}: use this baseUrl. The next checks are made there.`);
  calls.baseUrl = root;
  return true;
}

function targetOf({ headers: { location } }: ReplyAnswer, from: URL): URL | undefined {
  if (typeof location !== 'string' || !URL.canParse(location, from.href)) return undefined;
  const target = new URL(location, from);
  return target.protocol === 'http:' || target.protocol === 'https:' ? target : undefined;
}

/** Returns the base URL of which an address is user_details; `undefined` if it is something else, such as a page for signing in. */
function rootOf({ origin, pathname, search, username, password }: URL): string | undefined {
  if (!pathname.endsWith(USER_DETAILS_PATH) || `${search}${username}${password}` !== '') return undefined;
  return `${origin}${pathname.slice(0, -USER_DETAILS_PATH.length)}`.replace(/\/+$/, '');
}

function isSlashAdded(from: URL, target: URL): boolean {
  return target.host === from.host && target.pathname === `${from.pathname}/`;
}
