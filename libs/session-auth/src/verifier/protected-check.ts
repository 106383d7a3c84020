import { type Deadline, type Deadlines, noReplyAt } from '../client/deadline.js';
import type { LaneName } from '../contract/diagnostics.js';
import type { SessionIdentity, SessionKeys, TokenKey } from '../contract/session-identity.js';
import { unavailable, type Unavailable, type Verdict } from '../contract/outcome.js';
import { Bulkhead } from './bulkhead.js';
import { type CallerKey, KnownSessions } from './known-sessions.js';
import type { BulkheadResult, Ask, Lane } from './lane.js';
import { buildLanes, type BreakerChanged, type LaneSettings } from './lanes.js';

/** Optional collaborators of a {@link ProtectedCheck}. */
interface ProtectedCheckParts {
  readonly breakerChanged?: BreakerChanged;
  readonly known?: KnownSessions;
}

/** A check that enters the bulkhead. */
interface EnteringCall {
  readonly own: Lane;
  readonly session: SessionIdentity;
  readonly tokenKey: TokenKey;
  readonly caller: CallerKey;
  readonly deadline: Deadline;
}

/**
 * Maximum number of calls of one token that are in flight or wait for a place, with all IVs with which it was
 * never authenticated.
 */
const MAX_CALLS_OF_TOKEN = 8;
/** Seconds after which a caller that found no place may retry. */
const BUSY_RETRY_AFTER_SECONDS = 1;

/**
 * Calls the session service, and protects the application from a failing service and from a flood of
 * strangers.
 */
export class ProtectedCheck<User> {
  readonly #ask: Ask<User>;
  readonly #deadlines: Deadlines;
  /** Total time of one check, in milliseconds. */
  readonly timeoutMs: number;
  readonly #lanes: Readonly<Record<LaneName, Lane>>;
  readonly #bulkhead: Bulkhead;
  /** Known sessions, which determine the lane of a check. */
  readonly known: KnownSessions;
  /** The number of strangers' calls, in flight or waiting, of each token. */
  readonly #calls = new Map<TokenKey, number>();

  constructor(ask: Ask<User>, deadlines: Deadlines, settings: LaneSettings, parts: ProtectedCheckParts = {}) {
    this.#ask = ask;
    this.#deadlines = deadlines;
    this.timeoutMs = settings.timeoutMs;
    this.#lanes = buildLanes(settings, parts.breakerChanged ?? (() => undefined));
    this.#bulkhead = new Bulkhead(settings, this.#lanes.known, this.#lanes.strangers);
    this.known = parts.known ?? new KnownSessions();
  }

  /** Returns the lane of a session. */
  laneOf(keys: SessionKeys): LaneName {
    return this.known.has(keys) ? 'known' : 'strangers';
  }

  /** Returns the milliseconds that a check in this lane may wait for the call of another instance. */
  patienceMs(lane: LaneName): number {
    return this.#lanes[lane].pace.sharingMs;
  }

  /**
   * Calls the service: deadline, then a place in the lane, then retry, then the lane's breaker. Never
   * rejects. Settles within `timeoutMs`, of which `spentMs` have passed already.
   */
  run(
    session: SessionIdentity,
    keys: SessionKeys,
    spentMs = 0,
    lane = this.laneOf(keys),
  ): Promise<Verdict<User>> {
    const { [lane]: own } = this.#lanes;
    const { tokenKey } = keys;
    const caller = this.known.callerOf(tokenKey);
    const denial = own.denial(caller);
    if (denial) return Promise.resolve(denial);
    const calls = lane === 'strangers' ? (this.#calls.get(tokenKey) ?? 0) : 0;
    if (calls >= MAX_CALLS_OF_TOKEN) return Promise.resolve(notEntered('full'));
    const leftMs = Math.max(0, this.timeoutMs - spentMs);
    if (spentMs > 0 && !own.pace.fits(leftMs)) return Promise.resolve(notEntered('full'));
    const deadline = this.#deadlines.start(leftMs);
    if (lane === 'strangers') this.#calls.set(tokenKey, calls + 1);
    const entering = this.#bulkhead.enter(own, deadline);
    const call: EnteringCall = { own, session, tokenKey, caller, deadline };
    return typeof entering === 'string'
      ? this.#proceed(entering, call)
      : entering.then((result) => this.#proceed(result, call));
  }

  /** Makes the calls of a check, and releases its place and its deadline whatever happens. */
  #proceed(
    result: BulkheadResult,
    { own, session, tokenKey, caller, deadline }: EnteringCall,
  ): Promise<Verdict<User>> {
    if (result !== 'entered') {
      this.#uncount(own, tokenKey);
      deadline.clear();
      return Promise.resolve(notEntered(result));
    }
    const release = (): void => {
      this.#uncount(own, tokenKey);
      this.#bulkhead.leave(own);
      deadline.clear();
    };
    try {
      return own
        .check(this.#ask, session, caller, deadline)
        .then((verdict) => (release(), verdict), failAfter(release));
    } catch (error) {
      return Promise.reject(error as Error).catch(failAfter(release));
    }
  }

  #uncount(lane: Lane, tokenKey: TokenKey): void {
    if (lane !== this.#lanes.strangers) return;
    const calls = (this.#calls.get(tokenKey) ?? 0) - 1;
    if (calls > 0) this.#calls.set(tokenKey, calls);
    else this.#calls.delete(tokenKey);
  }

  /**
   * Returns the verdict of a check that waits for a call that has not begun: that of the call, or `timeout`
   * when the time of the check, counted from now, has passed.
   */
  within(pending: Promise<Verdict<User>>): Promise<Verdict<User>> {
    const deadline = this.#deadlines.start(this.timeoutMs);
    return new Promise((resolve, reject) => {
      deadline.onEnd((end) => resolve(notEntered(end)));
      pending.then(resolve, reject).finally(() => deadline.clear());
    });
  }
}

/** Returns a handler of an error that must not happen: it fails after `release`. */
function failAfter(release: () => void): (error: unknown) => never {
  return (error) => {
    release();
    throw error;
  };
}

function notEntered(result: Exclude<BulkheadResult, 'entered'>): Unavailable {
  return result === 'full'
    ? unavailable('busy', BUSY_RETRY_AFTER_SECONDS)
    : unavailable(noReplyAt(result).noReply);
}
