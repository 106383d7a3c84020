import { createHash } from 'node:crypto';

/**
 * SHA-256 of a random secret, in hexadecimal: the only form in which tokens and application keys are stored.
 */
export function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
