import { type VNode } from 'preact';
import { type CacheChoice } from '../../src/backend/cache-choice.js';
import { type LiveReport } from '../../src/console/messages.js';
import { Breaker } from './breaker.js';
import { type Geometry } from './geometry.js';

/** The definition of a stranger. */
export const STRANGERS = 'tokens not yet seen to be valid';

/** Draws the guard: its cache, its two lanes, and the breaker of each. */
export function Guard({
  at,
  report,
}: {
  readonly at: Geometry;
  readonly report: LiveReport | undefined;
}): VNode {
  const { guard, cache, lanes, isWide, isRoomy, breaker } = at;
  const start = cache.x + (isWide ? 66 : 34);
  const below = isWide ? -18 : 26;
  return (
    <g class="guard">
      <rect
        x={guard.left}
        y={guard.top}
        width={guard.right - guard.left}
        height={guard.bottom - guard.top}
        rx="16"
      />
      <text class="name" x={guard.left + 16} y={guard.top + 26}>
        The guard{' '}
        {isRoomy && (
          <tspan class="about">
            answers from its cache, shares calls, and stops calling a service that fails
          </tspan>
        )}
      </text>
      <Cache at={at} ttlSeconds={report?.cache.ttlSeconds ?? 0} />
      <text class="lane-name" x={start} y={lanes.known + below}>
        {isWide ? 'Signed-in users' : 'Signed in'}
      </text>
      <text class="lane-name" x={start} y={lanes.strangers + below}>
        Strangers{isRoomy && `: ${STRANGERS}`}
      </text>
      <Breaker x={breaker} y={lanes.known} state={report?.breakers.known ?? 'closed'} />
      <Breaker x={breaker} y={lanes.strangers} state={report?.breakers.strangers ?? 'closed'} />
    </g>
  );
}

function Cache({
  at: { cache },
  ttlSeconds,
}: {
  readonly at: Geometry;
  readonly ttlSeconds: CacheChoice['ttlSeconds'];
}): VNode {
  return (
    <g class="cache" data-on={ttlSeconds > 0}>
      <rect x={cache.x - 20} y={cache.y - 20} width="40" height="40" rx="10" />
      <text x={cache.x} y={cache.y + 40}>
        Cache
      </text>
      <text x={cache.x} y={cache.y + 58}>
        {ttlSeconds === 0 ? 'off' : ttlSeconds < 60 ? `${ttlSeconds} s` : `${ttlSeconds / 60} min`}
      </text>
    </g>
  );
}
