import { timingSafeEqual } from 'node:crypto';
import { digestOf } from '../secrets/secret-digest.js';

/** The application keys of this service, held in memory as digests: a wrong key never costs a look into the database. */
export class ApplicationKeys {
  private readonly digests: readonly Buffer[];

  /** @param digests - hexadecimal digests, as the database holds them */
  constructor(digests: readonly string[]) {
    this.digests = digests.map((digest) => Buffer.from(digest, 'hex'));
  }

  /** Whether the key belongs to an application. Takes the same time wherever and however much it differs. */
  include(key: string): boolean {
    const presented = Buffer.from(digestOf(key), 'hex');
    return this.digests.reduce((found, digest) => timingSafeEqual(digest, presented) || found, false);
  }
}
