import { expectUserRecord } from './expectations.js';
import { send, type WireReply, type WireRequest } from './send.js';

/** The application key of the demo. */
export const KEY = { 'X-API-KEY': 'demo-api-key' };

/** The media type of a sign-in. */
export const JSON_TYPE = { 'Content-Type': 'application/json' };

/** The credentials of the manager of the demo accounts. */
export const MANAGER = { username: 'manager', password: 'manager-demo' };

/** How a sign-in differs from a plain one. */
export type SignInVariant = Pick<WireRequest, 'from' | 'headers'>;

/** Signs in at the reference service. */
export function signIn(
  url: string,
  credentials: object = MANAGER,
  { from, headers = {} }: SignInVariant = {},
): Promise<WireReply> {
  const body = JSON.stringify(credentials);
  return send(url, {
    method: 'POST',
    path: '/authentication',
    headers: { ...KEY, ...JSON_TYPE, ...headers },
    body,
    ...(from && { from }),
  });
}

/** The token of a new session of the manager. */
export async function tokenFrom(url: string): Promise<string> {
  return String(expectUserRecord(await signIn(url)).auth_token);
}

/** Calls user_details with the token. */
export function userDetails(url: string, token: string): Promise<WireReply> {
  return send(url, {
    method: 'GET',
    path: '/authentication/user_details',
    headers: { ...KEY, 'X-AUTH-TOKEN': token },
  });
}

/** Ends the session of the token. */
export function signOut(url: string, token: string): Promise<WireReply> {
  return send(url, { method: 'DELETE', path: '/authentication', headers: { ...KEY, 'X-AUTH-TOKEN': token } });
}
