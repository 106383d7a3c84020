import { hash, verify } from '@node-rs/argon2';

/** Creates and verifies password hashes. */
export abstract class PasswordHashing {
  /** Returns a salted hash of the password, which includes its parameters. */
  abstract hash(password: string): Promise<string>;
  /** Returns whether the password matches the hash. */
  abstract verify(passwordHash: string, password: string): Promise<boolean>;
}

/** Argon2id with 19 MiB, two passes and one lane. */
export class Argon2PasswordHashing extends PasswordHashing {
  hash(password: string): Promise<string> {
    return hash(password, { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 });
  }

  verify(passwordHash: string, password: string): Promise<boolean> {
    return verify(passwordHash, password);
  }
}
