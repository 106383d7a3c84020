import { Injectable } from '@nestjs/common';
import { type AroundHash } from '../passwords/password-verifier.js';
import { MonotonicClock } from './monotonic-clock.js';
import { RefusalLog } from './refusal-log.js';
import { type SignInAttempt } from './sign-in-attempt.js';
import { type Admission, SignInLimiter } from './sign-in-limiter.js';
import { TooManyFailuresError } from './too-many-failures.error.js';

const MAX_DELAY_MS = 1_000;

/** Checks a password. Calls `aroundHash` around the hash itself, which may wait in a queue. */
export type PasswordCheck = (aroundHash: AroundHash) => Promise<boolean>;

/** Checks passwords within the limits of failed sign-ins. */
@Injectable()
export class LimitedCheck {
  private readonly refusals = new RefusalLog();
  private latestCheckMs = 0;

  constructor(
    private readonly limiter: SignInLimiter,
    private readonly clock: MonotonicClock,
  ) {}

  /**
   * Checks the password of an attempt, and counts a wrong one. A check that rejects counts nothing.
   *
   * @throws TooManyFailuresError if the attempt is beyond a limit; its password was not checked, or was wrong
   */
  async run(attempt: SignInAttempt, check: PasswordCheck): Promise<boolean> {
    const admission = this.limiter.admissionOf(attempt);
    if (admission.kind === 'refused') await this.delayAsLongAsACheck(admission);
    this.require(admission, attempt);
    const startedAt = this.clock.now();
    const isCorrect = await check((hash) => this.hashAndCount(attempt, hash));
    this.latestCheckMs = this.clock.now() - startedAt;
    return isCorrect;
  }

  /** Decides again: many attempts may have been admitted before the first of them failed. */
  private async hashAndCount(attempt: SignInAttempt, hash: () => Promise<boolean>): Promise<boolean> {
    const admission = this.limiter.admissionOf(attempt);
    this.require(admission, attempt);
    const isCorrect = await hash();
    this.count(attempt, admission, isCorrect);
    return isCorrect;
  }

  private require(admission: Admission, attempt: SignInAttempt): void {
    if (admission.kind !== 'refused') return;
    this.refusals.note(attempt.caller);
    throw new TooManyFailuresError(admission.waitMs);
  }

  private count(attempt: SignInAttempt, admission: Admission, isCorrect: boolean): void {
    if (isCorrect) this.limiter.succeed(attempt);
    else this.limiter.fail(attempt, admission);
    if (!isCorrect && admission.kind === 'familiar') throw new TooManyFailuresError(admission.waitMs);
  }

  /** While familiar pairs are admitted, a fast refusal would reveal that a pair is not familiar. */
  private async delayAsLongAsACheck({ underAttack }: Admission): Promise<void> {
    const delayMs = underAttack ? Math.min(this.latestCheckMs, MAX_DELAY_MS) : 0;
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs).unref());
  }
}
