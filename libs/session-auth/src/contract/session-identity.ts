import { hash } from 'node:crypto';

/** Identifies a session to the service: the token, and the IV that came with it. */
export interface SessionIdentity {
  readonly token: string;
  readonly authIv: string | undefined;
}

declare const brand: unique symbol;

/** Digest of a token. Caches, stores and messages are keyed by it, so that none of them holds a token; the compiler refuses one for the other. */
export type TokenKey = string & { readonly [brand]: 'TokenKey' };

/** Digest of a token and its IV; of the token alone if there is no IV. */
export type SessionKey = TokenKey | (string & { readonly [brand]: 'SessionKey' });

/** Digests that stand for a session. */
export interface SessionKeys {
  /** Digest of the token alone: a sign-out evicts the session under every IV. */
  readonly tokenKey: TokenKey;
  readonly sessionKey: SessionKey;
}

/** Digests a token and its IV. Neither can hold a line break, so that no two identities have the same digest. */
export function sessionKeysOf({ token, authIv }: SessionIdentity): SessionKeys {
  const tokenKey = tokenKeyOf(token);
  return { tokenKey, sessionKey: authIv === undefined ? tokenKey : (digest(`${token}\n${authIv}`) as SessionKey) };
}

/** Digests a token alone. */
export function tokenKeyOf(token: string): TokenKey {
  return digest(token) as TokenKey;
}

/** Returns a digest with one byte per character: the shortest string, and the fastest to create. */
function digest(text: string): string {
  return hash('sha256', text, 'binary');
}
