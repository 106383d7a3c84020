import { type Deadline, type Deadlines, noReplyAt } from '../../client/deadline.js';
import type { LaneName } from '../../contract/diagnostics.js';
import type { SessionIdentity, TokenKey } from '../../contract/session-identity.js';
import { unavailable, type Unavailable, type Verdict } from '../../contract/outcome.js';
import { Bulkhead } from './bulkhead.js';
import { KnownSessions } from './known-sessions.js';
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
  readonly deadline: Deadline;
}

/** Seconds after which a caller that found no place may retry. */
const BUSY_RETRY_AFTER_SECONDS = 1;

/** Calls the session service, and protects the application from a failing service and from a flood of strangers. */
export class ProtectedCheck<User> {
  readonly #ask: Ask<User>;
  readonly #deadlines: Deadlines;
  /** Total time of one check, in milliseconds. */
  readonly timeoutMs: number;
  readonly #lanes: Readonly<Record<LaneName, Lane>>;
  readonly #bulkhead: Bulkhead;
  /** Known sessions, which determine the lane of a check. */
  readonly known: KnownSessions;

  constructor(ask: Ask<User>, deadlines: Deadlines, settings: LaneSettings, parts: ProtectedCheckParts = {}) {
    this.#ask = ask;
    this.#deadlines = deadlines;
    this.timeoutMs = settings.timeoutMs;
    this.#lanes = buildLanes(settings, parts.breakerChanged ?? (() => undefined));
    this.#bulkhead = new Bulkhead(settings, this.#lanes.known, this.#lanes.strangers);
    this.known = parts.known ?? new KnownSessions();
  }

  /** Returns the lane of the session with this token digest. */
  laneOf(tokenKey: TokenKey): LaneName {
    return this.known.has(tokenKey) ? 'known' : 'strangers';
  }

  /** Returns the milliseconds that a check in this lane may wait for the call of another instance. */
  patienceMs(lane: LaneName): number {
    return this.#lanes[lane].pace.sharingMs;
  }

  /**
   * Calls the service: deadline, then a place in the lane, then retry, then the lane's breaker. Never rejects. Settles within `timeoutMs`, of
   * which `spentMs` have passed already. `tokenKey` is the digest of the session's token.
   */
  run(session: SessionIdentity, tokenKey: TokenKey, spentMs = 0, lane = this.laneOf(tokenKey)): Promise<Verdict<User>> {
    const { [lane]: own } = this.#lanes;
    const denial = own.denial(tokenKey);
    if (denial) return Promise.resolve(denial);
    const leftMs = Math.max(0, this.timeoutMs - spentMs);
    if (spentMs > 0 && !own.pace.fits(leftMs)) return Promise.resolve(notEntered('full'));
    const deadline = this.#deadlines.start(leftMs);
    const entering = this.#bulkhead.enter(own, deadline);
    const call: EnteringCall = { own, session, tokenKey, deadline };
    return typeof entering === 'string' ? this.#proceed(entering, call) : entering.then((result) => this.#proceed(result, call));
  }

  /** Makes the calls of a check, and releases its place and its deadline whatever happens. */
  #proceed(result: BulkheadResult, { own, session, tokenKey, deadline }: EnteringCall): Promise<Verdict<User>> {
    if (result !== 'entered') {
      deadline.clear();
      return Promise.resolve(notEntered(result));
    }
    const release = (): void => {
      this.#bulkhead.leave(own);
      deadline.clear();
    };
    try {
      return own.check(this.#ask, session, tokenKey, deadline).then((verdict) => (release(), verdict), failAfter(release));
    } catch (error) {
      return Promise.reject(error as Error).catch(failAfter(release));
    }
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
  return result === 'full' ? unavailable('busy', BUSY_RETRY_AFTER_SECONDS) : unavailable(noReplyAt(result).noReply);
}
