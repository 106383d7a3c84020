import type { TokenKey } from '../contract/session-identity.js';

/**
 * The end of a session, of all sessions of a user, or of all sessions. The same value is applied in this
 * process, stored, and published to the other instances, which apply it too.
 */
export type Revocation =
  | {
      /**
       * Cause: `signedOut` by a user, `refused` by the service, `evicted` by the application, or because the
       * service answered 403.
       */
      readonly kind: 'signedOut' | 'refused' | 'evicted';
      readonly tokenKey: TokenKey;
    }
  | { readonly kind: 'userRevoked'; readonly username: string }
  | { readonly kind: 'allRevoked' };

const TOKEN_KINDS: ReadonlySet<unknown> = new Set(['signedOut', 'refused', 'evicted']);

/** The JSON form of a revocation. */
export interface WrittenRevocation {
  readonly kind: string;
  /** Base64. */
  readonly token?: string;
  readonly username?: string;
}

/** Returns the JSON form of a revocation. */
export function writeRevocation(revocation: Revocation): WrittenRevocation {
  if (!('tokenKey' in revocation)) return revocation;
  return { kind: revocation.kind, token: Buffer.from(revocation.tokenKey, 'latin1').toString('base64') };
}

/**
 * Parses a revocation, which another version may have written. Returns `undefined` for a kind that this
 * version does not support.
 */
export function readRevocation(written: { readonly [Name in keyof WrittenRevocation]?: unknown }):
  Revocation | undefined {
  const { kind, token, username } = written;
  if (kind === 'allRevoked') return { kind };
  if (kind === 'userRevoked') return typeof username === 'string' ? { kind, username } : undefined;
  if (typeof token !== 'string' || !TOKEN_KINDS.has(kind)) return undefined;
  return { kind: kind as 'signedOut', tokenKey: Buffer.from(token, 'base64').toString('latin1') as TokenKey };
}

/** Returns the name of a revocation: equal for those of one kind and one subject. */
export function nameOf(revocation: Revocation): string {
  if ('tokenKey' in revocation) return `${revocation.kind} ${revocation.tokenKey}`;
  return 'username' in revocation ? `${revocation.kind} ${revocation.username}` : revocation.kind;
}
