import { expectUserRecord } from './expectations.js';
import { send, type WireReply, type WireRequest } from './send.js';

export const KEY = { 'X-API-KEY': 'demo-api-key' };

export const JSON_TYPE = { 'Content-Type': 'application/json' };

export const MANAGER = { username: 'manager', password: 'manager-demo' };

/** How a call differs from a plain one. Its headers are sent in addition. */
type Variant = Partial<Pick<WireRequest, 'path' | 'from' | 'headers'>>;

/** Sends a body to the sign-in of the reference service. */
export function post(
  url: string,
  body: string | Buffer,
  { headers, ...variant }: Variant = {},
): Promise<WireReply> {
  const all = { ...KEY, ...JSON_TYPE, ...headers };
  return send(url, { method: 'POST', path: '/authentication', headers: all, body, ...variant });
}

export function signIn(url: string, credentials: object = MANAGER, variant?: Variant): Promise<WireReply> {
  return post(url, JSON.stringify(credentials), variant);
}

/** The token of a new session of the manager, or of another user. */
export async function tokenFrom(url: string, credentials?: object): Promise<string> {
  return String(expectUserRecord(await signIn(url, credentials)).auth_token);
}

export function userDetails(
  url: string,
  token: string,
  { headers, ...variant }: Variant = {},
): Promise<WireReply> {
  const all = { ...KEY, 'X-AUTH-TOKEN': token, ...headers };
  return send(url, { method: 'GET', path: '/authentication/user_details', headers: all, ...variant });
}

/** Ends the session of the token. */
export function signOut(
  url: string,
  token: string,
  { headers, ...variant }: Variant = {},
): Promise<WireReply> {
  const all = { ...KEY, 'X-AUTH-TOKEN': token, ...headers };
  return send(url, { method: 'DELETE', path: '/authentication', headers: all, ...variant });
}
