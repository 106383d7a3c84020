import { noReplyAt, type Deadline } from '../client/deadline.js';
import type { Deadlines } from '../client/deadlines.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import { unavailable, type Verdict } from '../contract/verdict.js';
import { Bulkhead, type BulkheadSettings } from './bulkhead.js';
import { withRetry, type RetrySettings } from './retry.js';

/** One question to the service: whose session is this? */
export type Ask<User> = (session: SessionIdentity, deadline: Deadline) => Promise<Verdict<User>>;

/** Limits of one check. */
export interface ProtectionSettings extends BulkheadSettings, RetrySettings {
  /** Milliseconds for the whole check: queue, attempts and bodies. */
  readonly timeoutMs: number;
}

/** Seconds after which a caller that found the queue full may come again. */
const BUSY_RETRY_AFTER_SECONDS = 1;

/** A check with everything that keeps an ill service from making this application ill: deadline, then bulkhead, then retry. */
export class ProtectedCheck<User> {
  readonly #ask: Ask<User>;
  readonly #deadlines: Deadlines;
  readonly #settings: ProtectionSettings;
  readonly #bulkhead: Bulkhead;

  constructor(ask: Ask<User>, deadlines: Deadlines, settings: ProtectionSettings) {
    this.#ask = ask;
    this.#deadlines = deadlines;
    this.#settings = settings;
    this.#bulkhead = new Bulkhead(settings);
  }

  /** Asks the service. Never rejects, and settles within `timeoutMs`. */
  async run(session: SessionIdentity): Promise<Verdict<User>> {
    const deadline = this.#deadlines.start(this.#settings.timeoutMs);
    try {
      return await this.#withPlace(deadline, () => withRetry(() => this.#ask(session, deadline), deadline, this.#settings));
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
