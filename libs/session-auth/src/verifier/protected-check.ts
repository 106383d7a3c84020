import { noReplyAt, type Deadline } from '../client/deadline.js';
import type { Deadlines } from '../client/deadlines.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import { unavailable, type Verdict } from '../contract/verdict.js';
import { Bulkhead, type BulkheadSettings } from './bulkhead.js';
import { CircuitBreaker } from './circuit-breaker.js';
import type { BreakerSettings, BreakerState } from './circuit.js';
import { Retry, type RetrySettings } from './retry.js';
import { RetryBudget } from './retry-budget.js';

/** One question to the service: whose session is this? */
export type Ask<User> = (session: SessionIdentity, deadline: Deadline) => Promise<Verdict<User>>;

/** Limits of one check. */
export interface ProtectionSettings extends BulkheadSettings, RetrySettings {
  /** Milliseconds for the whole check: queue, attempts and bodies. */
  readonly timeoutMs: number;
  /** Without it, the circuit never opens. */
  readonly breaker?: BreakerSettings | undefined;
}

/** Seconds after which a caller that found the queue full may come again. */
const BUSY_RETRY_AFTER_SECONDS = 1;

/** A check with everything that keeps an ill service from making this application ill. {@link run} shows the order. */
export class ProtectedCheck<User> {
  readonly #ask: Ask<User>;
  readonly #deadlines: Deadlines;
  readonly #timeoutMs: number;
  readonly #bulkhead: Bulkhead;
  readonly #retry: Retry;
  readonly #breaker: CircuitBreaker | undefined;

  /** `breakerChanged` hears of each new state of the circuit. */
  constructor(ask: Ask<User>, deadlines: Deadlines, settings: ProtectionSettings, breakerChanged?: (state: BreakerState) => void) {
    this.#ask = ask;
    this.#deadlines = deadlines;
    this.#timeoutMs = settings.timeoutMs;
    this.#bulkhead = new Bulkhead(settings);
    this.#retry = new Retry(settings, new RetryBudget());
    this.#breaker = settings.breaker && new CircuitBreaker(settings.breaker, undefined, breakerChanged);
  }

  /**
   * Asks the service: deadline, then bulkhead, then retry, then breaker. Never rejects, and settles within `timeoutMs`,
   * of which some may be spent already.
   */
  async run(session: SessionIdentity, spentMs = 0): Promise<Verdict<User>> {
    const refusal = this.#breaker?.refusal();
    if (refusal) return refusal;
    const deadline = this.#deadlines.start(Math.max(0, this.#timeoutMs - spentMs));
    const attempt = (): Promise<Verdict<User>> => this.#ask(session, deadline);
    const guarded = (): Promise<Verdict<User>> => (this.#breaker ? this.#breaker.protect(attempt) : attempt());
    try {
      return await this.#withPlace(deadline, () => this.#retry.run(guarded, deadline));
    } catch {
      return unavailable('malformed');
    } finally {
      deadline.clear();
    }
  }

  async #withPlace(deadline: Deadline, check: () => Promise<Verdict<User>>): Promise<Verdict<User>> {
    const entering = this.#bulkhead.enter(deadline);
    const admission = typeof entering === 'string' ? entering : await entering;
    if (admission === 'full') return unavailable('busy', BUSY_RETRY_AFTER_SECONDS);
    if (admission !== 'admitted') return unavailable(noReplyAt(admission).noReply);
    try {
      return await check();
    } finally {
      this.#bulkhead.leave();
    }
  }
}
