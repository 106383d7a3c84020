import { randomBytes } from 'node:crypto';
import { type HashQueue } from './hash-queue.js';
import { type PasswordHashing } from './password-hashing.js';

/** Runs a hash, or throws instead; what it does afterwards is done before another hash takes its place. */
export type AroundHash = (hash: () => Promise<boolean>) => Promise<boolean>;

/** Checks passwords, at the same cost whether the user exists or not. */
export class PasswordVerifier {
  private constructor(
    private readonly hashing: PasswordHashing,
    private readonly queue: HashQueue,
    private readonly nobodysHash: string,
  ) {}

  /** Makes a verifier with a hash that no password fits, to be checked in place of an unknown user's. */
  static async create(hashing: PasswordHashing, queue: HashQueue): Promise<PasswordVerifier> {
    return new PasswordVerifier(hashing, queue, await hashing.hash(randomBytes(32).toString('base64url')));
  }

  /**
   * Whether the password is the one of the hash.
   *
   * @param passwordHash - the user's hash; undefined for an unknown user, which is never right but takes as long
   * @param around - called when the turn of this hash comes, and keeps the turn until it has settled
   */
  verify(passwordHash: string | undefined, password: string, around: AroundHash = (hash) => hash()): Promise<boolean> {
    return this.queue.run(() => around(() => this.hash(passwordHash, password)));
  }

  private async hash(passwordHash: string | undefined, password: string): Promise<boolean> {
    const fits = await this.hashing.verify(passwordHash ?? this.nobodysHash, password);
    return fits && passwordHash !== undefined;
  }
}
