import { randomBytes } from 'node:crypto';
import { type HashQueue } from './hash-queue.js';
import { type PasswordHashing } from './password-hashing.js';

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
   */
  async verify(passwordHash: string | undefined, password: string): Promise<boolean> {
    const fits = await this.queue.run(() => this.hashing.verify(passwordHash ?? this.nobodysHash, password));
    return fits && passwordHash !== undefined;
  }
}
