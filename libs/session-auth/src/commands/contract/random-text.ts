import { randomBytes } from 'node:crypto';

/** Returns a random text that no service has issued, and no user is named. */
export function randomText(): string {
  return `contract-${randomBytes(12).toString('hex')}`;
}
