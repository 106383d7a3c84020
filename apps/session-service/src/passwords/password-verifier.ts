import { randomBytes } from 'node:crypto';
import { type HashQueue } from './hash-queue.js';
import { type PasswordHashing } from './password-hashing.js';

/** Runs a hash, or throws instead. Keeps the place in the queue until it settles. */
export type AroundHash = (hash: () => Promise<boolean>) => Promise<boolean>;

/** Verifies passwords, at the same cost whether the user exists or not. */
export class PasswordVerifier {
  private constructor(
    private readonly hashing: PasswordHashing,
    private readonly queue: HashQueue,
    private readonly dummyHash: string,
  ) {}

  /** Creates a verifier, with a dummy hash that stands for the hash of every unknown user. */
  static async create(hashing: PasswordHashing, queue: HashQueue): Promise<PasswordVerifier> {
    return new PasswordVerifier(hashing, queue, await hashing.hash(randomBytes(32).toString('base64url')));
  }

  /**
   * Returns whether the password matches the hash.
   *
   * @param passwordHash - the user's hash; undefined for an unknown user: never matches, but takes as long
   * @param around - called in the turn of this hash, and keeps the turn until it settles
   */
  verify(
    passwordHash: string | undefined,
    password: string,
    around: AroundHash = (hash) => hash(),
  ): Promise<boolean> {
    return this.queue.run(() => around(() => this.hash(passwordHash, password)));
  }

  private async hash(passwordHash: string | undefined, password: string): Promise<boolean> {
    const matches = await this.hashing.verify(passwordHash ?? this.dummyHash, password);
    return matches && passwordHash !== undefined;
  }
}
