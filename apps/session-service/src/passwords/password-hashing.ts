import { hash, verify } from '@node-rs/argon2';

/** Makes and checks password hashes. */
export abstract class PasswordHashing {
  /** A salted hash of the password, with its parameters written in it. */
  abstract hash(password: string): Promise<string>;
  /** Whether the hash was made of this password. */
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
