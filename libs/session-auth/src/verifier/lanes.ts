import type { LaneName } from '../contract/diagnostics.js';
import type { BreakerSettings, BreakerState } from './circuit-breaker.js';
import { strangersShare, type BulkheadSettings } from './bulkhead.js';
import { LaneBreaker } from './lane-breaker.js';
import { Lane, type LaneParts } from './lane.js';
import { Pace } from './pace.js';
import { Retry, RetryBudget, type RetrySettings } from './retry.js';
import { StrangersLimit } from './strangers-limit.js';

/** Settings of both lanes. */
export interface LaneSettings extends BulkheadSettings, RetrySettings {
  /** Milliseconds for the whole check: queue, attempts and bodies. */
  readonly timeoutMs: number;
  /** Settings of the breakers; `undefined`: no breaker. */
  readonly breaker?: BreakerSettings | undefined;
}

/** The parts in which the lanes differ. */
type OwnParts = Omit<LaneParts, 'pace' | 'retry'>;

/** Called with each new state of a lane's breaker. */
export type BreakerChanged = (lane: LaneName, state: BreakerState) => void;

/**
 * Builds the two lanes. Failures in the strangers' lane open the strangers' breaker alone. Failures of known
 * sessions are trustworthy: when they open the breaker of known sessions, the strangers' breaker opens too.
 * It also closes with it, unless a stranger's call was made since. A 429 pauses its own lane alone.
 */
export function buildLanes(
  settings: LaneSettings,
  changed: BreakerChanged,
): Readonly<Record<LaneName, Lane>> {
  const strangersBreaker = new LaneBreaker(settings.breaker, undefined, (state) =>
    changed('strangers', state),
  );
  let before: BreakerState = 'closed';
  const knownBreaker = new LaneBreaker(settings.breaker, undefined, (state) => {
    changed('known', state);
    if (before === 'closed' && !knownBreaker.isLimited) strangersBreaker.trip();
    if (state === 'closed') strangersBreaker.undoTrip();
    before = state;
  });
  const { maxInFlight, maxQueued } = settings;
  const [share, queueShare] = [strangersShare(maxInFlight), strangersShare(maxQueued)];
  const limit = new StrangersLimit(settings);
  const strangers: OwnParts = { share, queueShare, breaker: strangersBreaker, limit };
  const known: OwnParts = {
    share: maxInFlight - share,
    queueShare: maxQueued - queueShare,
    breaker: knownBreaker,
    strangersLimit: limit,
  };
  return { known: laneOf(known, settings), strangers: laneOf(strangers, settings) };
}

function laneOf(parts: OwnParts, settings: LaneSettings): Lane {
  const pace = new Pace(settings.timeoutMs);
  return new Lane({ ...parts, pace, retry: new Retry(settings, new RetryBudget(), pace) });
}
