import { USER_DETAILS_PATH } from '../../../contract/wire.js';
import { isRedirect, type ReplyAnswer } from '../../calls/answer.js';
import type { Examination } from '../examination.js';

const FOLLOWS_NONE = 'the library follows no redirect';
const FOLLOWED = ': set baseUrl to it. The next checks are made there.';
const NOT_FOLLOWED = '. Neither key nor password was sent there. If it is your session service, run again with that --url.';

/**
 * Reports the target of a redirect. Returns whether the examination continues there. The printed `baseUrl` stays the given one: any server or
 * proxy on the way can send a redirect, and its target must not end up in the configuration unread.
 */
export function followRedirect(examination: Examination, answer: ReplyAnswer): boolean {
  if (!isRedirect(answer)) return false;
  const { calls, findings, secrets } = examination;
  const from = new URL(`${calls.baseUrl}${USER_DETAILS_PATH}`);
  const target = targetOf(answer, from);
  const root = target && rootOf(target);
  if (target && isSlashAdded(from, target))
    findings.fail('redirects', `user_details redirects to the same path with a slash at its end: ${FOLLOWS_NONE}, and sends none.`);
  if (!target || !root || root === calls.baseUrl || secrets.areIn(root)) return false;
  const follows = isSafeToFollow(from, target);
  findings.fail('redirects', `user_details redirects to ${root}, and ${FOLLOWS_NONE}${follows ? FOLLOWED : NOT_FOLLOWED}`);
  if (follows) calls.baseUrl = root;
  return follows;
}

/** Whether the key and the password may be sent to the target of a redirect: within an origin, or from http to https of one host, at their default ports. */
export function isSafeToFollow(from: URL, target: URL): boolean {
  if (from.origin === target.origin) return true;
  const isUpgrade = from.protocol === 'http:' && target.protocol === 'https:';
  return isUpgrade && from.hostname === target.hostname && from.port === '' && target.port === '';
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
