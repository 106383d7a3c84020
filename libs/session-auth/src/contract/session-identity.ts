import { hash } from 'node:crypto';

/** What identifies a session to the service: the token, and the IV that came with it. */
export interface SessionIdentity {
  readonly token: string;
  readonly authIv: string | undefined;
}

/** One-way digests that stand for a session in memory, where no token may stand. */
export interface SessionKeys {
  /** Digest of the token alone: what a sign-out drops, under whatever IV. */
  readonly tokenKey: string;
  /** Digest of the token and its IV. The same as `token` where there is no IV. */
  readonly sessionKey: string;
}

/** Digests a token and its IV. Neither can hold a line break, so that no two identities read the same. */
export function sessionKeysOf({ token, authIv }: SessionIdentity): SessionKeys {
  const key = tokenKeyOf(token);
  return { tokenKey: key, sessionKey: authIv === undefined ? key : digest(`${token}\n${authIv}`) };
}

/** Digest of a token alone. */
export function tokenKeyOf(token: string): string {
  return digest(token);
}

/** As one byte a character, the digest is the shortest string that it can be, and the quickest to make. */
function digest(text: string): string {
  return hash('sha256', text, 'binary');
}
