import { Argon2PasswordHashing } from '../../apps/session-service/src/passwords/password-hashing.js';

/** Hashes for real, but counts, and lets no check of a password go on before it is told to. */
export class HeldPasswordHashing extends Argon2PasswordHashing {
  running = 0;
  mostAtOnce = 0;
  started = 0;
  private release!: () => void;
  private readonly released = new Promise<void>((resolve) => {
    this.release = resolve;
  });

  /** Lets the checks go on, those of the future too. */
  letGo(): void {
    this.release();
  }

  override async verify(passwordHash: string, password: string): Promise<boolean> {
    this.started += 1;
    this.running += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.running);
    await this.released;
    try {
      return await super.verify(passwordHash, password);
    } finally {
      this.running -= 1;
    }
  }
}
