import { hash } from 'node:crypto';
import type { SessionIdentity } from '../contract/session-identity.js';

/** A one-way digest that stands for a session in memory, where no token may stand. */
export type SessionKey = string;

/** Digest of a token alone: what a sign-out drops, under whatever IV. */
export function tokenKey(token: string): SessionKey {
  return digest(`${token.length}:${token}`);
}

/** Digest of a token and its IV. Lengths go in front, so that no two identities read the same. */
export function sessionKey({ token, authIv }: SessionIdentity): SessionKey {
  return authIv === undefined ? tokenKey(token) : digest(`${token.length}:${token}:${authIv}`);
}

function digest(text: string): SessionKey {
  return hash('sha256', text, 'base64');
}
