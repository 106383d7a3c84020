import { describe, expect, it } from '@jest/globals';
import { HashQueue } from './hash-queue.js';
import { Argon2PasswordHashing, PasswordHashing } from './password-hashing.js';
import { PasswordVerifier } from './password-verifier.js';

class YesHashing extends PasswordHashing {
  readonly verified: string[] = [];

  hash(): Promise<string> {
    return Promise.resolve('dummy hash');
  }

  verify(passwordHash: string): Promise<boolean> {
    this.verified.push(passwordHash);
    return Promise.resolve(true);
  }
}

describe('PasswordVerifier', () => {
  it('distinguishes the right password from a wrong one', async () => {
    const hashing = new Argon2PasswordHashing();
    const verifier = await PasswordVerifier.create(hashing, new HashQueue());
    const passwordHash = await hashing.hash('correct horse');

    await expect(verifier.verify(passwordHash, 'correct horse')).resolves.toBe(true);
    await expect(verifier.verify(passwordHash, 'correct horse\0')).resolves.toBe(false);
    await expect(verifier.verify(passwordHash, 'Correct horse')).resolves.toBe(false);
  });

  it('computes one hash for an unknown user too, and refuses any result', async () => {
    const hashing = new YesHashing();
    const verifier = await PasswordVerifier.create(hashing, new HashQueue());

    await expect(verifier.verify(undefined, 'anything')).resolves.toBe(false);
    expect(hashing.verified).toEqual(['dummy hash']);
  });

  it('stores argon2id with the parameters of the dummy hash for unknown users', async () => {
    await expect(new Argon2PasswordHashing().hash('x')).resolves.toMatch(
      /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/,
    );
  });
});
