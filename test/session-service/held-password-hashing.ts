import { hash } from '@node-rs/argon2';
import { Argon2PasswordHashing } from '../../apps/session-service/src/passwords/password-hashing.js';

const COSTS = {
  /** The least that Argon2 can cost: the service takes its time elsewhere. */
  least: { memoryCost: 8, timeCost: 1, parallelism: 1 },
  /** A sixth of the cost in production: several times the cost of any other request. */
  some: { memoryCost: 4 * 1024, timeCost: 2, parallelism: 1 },
} as const;

/** Hashes with Argon2, counts, and holds each check of a password until {@link HeldPasswordHashing.letGo}. */
export class HeldPasswordHashing extends Argon2PasswordHashing {
  running = 0;
  mostAtOnce = 0;
  started = 0;
  /** The hashes that passwords were compared with. */
  readonly verified: string[] = [];
  private release!: () => void;
  private readonly released = new Promise<void>((resolve) => {
    this.release = resolve;
  });

  /** @param cost - `least`, unless a test is about the time that a hash takes. */
  constructor(private readonly cost: keyof typeof COSTS = 'least') {
    super();
  }

  /** Releases the checks, and all later ones. */
  letGo(): void {
    this.release();
  }

  override hash(password: string): Promise<string> {
    return hash(password, COSTS[this.cost]);
  }

  override async verify(passwordHash: string, password: string): Promise<boolean> {
    this.started += 1;
    this.verified.push(passwordHash);
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
