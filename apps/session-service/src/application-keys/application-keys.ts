import { timingSafeEqual } from 'node:crypto';
import { digestOf } from '../secrets/secret-digest.js';

/** Holds the digests of all application keys in memory, so that a wrong key never costs a database query. */
export class ApplicationKeys {
  private readonly digests: readonly Buffer[];

  /** @param digests - hexadecimal digests, as the database holds them */
  constructor(digests: readonly string[]) {
    this.digests = digests.map((digest) => Buffer.from(digest, 'hex'));
  }

  /** Returns whether the key belongs to an application, in constant time. */
  include(key: string): boolean {
    const presented = Buffer.from(digestOf(key), 'hex');
    return this.digests.reduce((found, digest) => timingSafeEqual(digest, presented) || found, false);
  }
}
