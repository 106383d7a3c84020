import { hash } from 'node:crypto';

/** Identity of a session: the token, and the IV that was presented with it. */
export interface SessionIdentity {
  readonly token: string;
  readonly authIv: string | undefined;
}

export function isSameSession(one?: SessionIdentity, other?: SessionIdentity): boolean {
  return one?.token === other?.token && one?.authIv === other?.authIv;
}

declare const brand: unique symbol;

/**
 * Digest of a token. Caches, stores and messages use it as the key, and hold no token. Branded, so that the
 * compiler rejects a raw token.
 */
export type TokenKey = string & { readonly [brand]: 'TokenKey' };

/** Digest of a token and its IV; of the token alone if there is no IV. */
export type SessionKey = TokenKey | (string & { readonly [brand]: 'SessionKey' });

export interface SessionKeys {
  /** Digest of the token alone, by which a sign-out evicts the session under every IV. */
  readonly tokenKey: TokenKey;
  readonly sessionKey: SessionKey;
}

/**
 * Returns the digests of a session. Neither a token nor an IV can contain a line break, so different
 * identities have different digests.
 */
export function sessionKeysOf({ token, authIv }: SessionIdentity): SessionKeys {
  // One byte per character: the shortest string, and the fastest to create.
  const tokenKey = hash('sha256', token, 'binary') as TokenKey;
  if (authIv === undefined) return { tokenKey, sessionKey: tokenKey };
  return { tokenKey, sessionKey: hash('sha256', `${token}\n${authIv}`, 'binary') as SessionKey };
}

export function tokenKeyOf(token: string): TokenKey {
  return hash('sha256', token, 'binary') as TokenKey;
}
