import { createHash } from 'node:crypto';
import { type IncomingMessage } from 'node:http';

/** Returns the digest of the token of a request, which stands for it in maps; undefined without a token. */
export function tokenDigestOf({ headers }: IncomingMessage): string | undefined {
  const token = headers['x-auth-token'];
  return typeof token === 'string' ? digestOf(token) : undefined;
}

/** Returns the digest of a token. */
export function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
