import { Injectable } from '@nestjs/common';
import { FailureCounter } from './failure-counter.js';
import { FamiliarPairs } from './familiar-pairs.js';
import { MonotonicClock } from './monotonic-clock.js';
import { type SignInAttempt } from './sign-in-attempt.js';
import { SignInLimits } from './sign-in-limits.js';

/**
 * Share of its attempts that each caller has for an account under attack from many callers; at least one
 * attempt.
 */
const SHARE_UNDER_ATTACK = 0.3;

/**
 * Whether the password of an attempt is checked. `familiar`: the attempt is beyond a limit because of
 * failures of others, but the pair has signed in before: the correct password is admitted, and a wrong one is
 * answered like `refused`.
 */
export interface Admission {
  readonly kind: 'open' | 'familiar' | 'refused';
  /** Milliseconds until an attempt is within the limits. */
  readonly waitMs: number;
  /**
   * Whether familiar pairs are admitted now: a refusal must not be faster than the check of their password.
   */
  readonly underAttack: boolean;
}

/**
 * Limits failed sign-ins without locking out the owner of an account. Counts by account and caller, by
 * caller, and by account. The response to a wrong password depends only on these counts, not on whether the
 * account exists.
 */
@Injectable()
export class SignInLimiter {
  private readonly pairs: FailureCounter;
  private readonly callers: FailureCounter;
  private readonly accounts: FailureCounter;
  /** Also counts the checks of `familiar` attempts, which must not affect the responses to others. */
  private readonly checkedPairs: FailureCounter;
  private readonly familiar: FamiliarPairs;
  private readonly costUnderAttack: number;

  constructor(limits: SignInLimits, clock: MonotonicClock) {
    const { maxFailures, maxFailuresPerCaller, maxFailuresPerAccount, windowMs, maxEntries } = limits;
    this.pairs = new FailureCounter(maxFailures, windowMs, maxEntries, clock);
    this.callers = new FailureCounter(maxFailuresPerCaller, windowMs, maxEntries, clock);
    this.accounts = new FailureCounter(maxFailuresPerAccount, windowMs, maxEntries, clock);
    this.checkedPairs = new FailureCounter(maxFailures, windowMs, maxEntries, clock);
    this.familiar = new FamiliarPairs(maxEntries);
    this.costUnderAttack = maxFailures / Math.max(1, Math.floor(maxFailures * SHARE_UNDER_ATTACK));
  }

  /** Number of entries in all tables. */
  get size(): number {
    const tables = [this.pairs, this.callers, this.accounts, this.checkedPairs, this.familiar];
    return tables.reduce((sum, { size }) => sum + size, 0);
  }

  /** Decides whether the password of an attempt is checked. Counts nothing. */
  admissionOf(attempt: SignInAttempt): Admission {
    const callerWaitMs = this.callers.waitMs(attempt.caller);
    const waitMs = Math.max(callerWaitMs, this.pairs.waitMs(attempt.pair, this.costOf(attempt)));
    const underAttack = callerWaitMs > 0 || this.isUnderAttack(attempt);
    if (waitMs === 0) return { kind: 'open', waitMs, underAttack };
    const passes =
      underAttack && this.familiar.has(attempt.pair) && this.checkedPairs.waitMs(attempt.pair) === 0;
    return { kind: passes ? 'familiar' : 'refused', waitMs, underAttack };
  }

  /** Counts a wrong password or an unknown user, after the check. */
  fail(attempt: SignInAttempt, { kind }: Admission): void {
    this.checkedPairs.add(attempt.pair);
    if (kind !== 'open') return;
    this.pairs.add(attempt.pair, this.costOf(attempt));
    this.callers.add(attempt.caller);
    this.accounts.add(attempt.account);
  }

  /**
   * Sets the count of the pair to zero after a correct password. Failures of the caller with other accounts
   * still count.
   */
  succeed({ pair }: SignInAttempt): void {
    this.pairs.clear(pair);
    this.checkedPairs.clear(pair);
    this.familiar.add(pair);
  }

  private costOf(attempt: SignInAttempt): number {
    return this.isUnderAttack(attempt) ? this.costUnderAttack : 1;
  }

  private isUnderAttack({ account }: SignInAttempt): boolean {
    return this.accounts.waitMs(account) > 0;
  }
}
