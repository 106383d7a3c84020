import { type MarkKind } from '../../src/console/messages.js';
import { type Geometry, type Point } from './geometry.js';
import { type Mark } from './mark.js';

/** Returns the bends of the way from a lane through its breaker to the service. */
export function wayOut({ breaker, guard, service, lanes }: Geometry, lane: Mark['lane']): Point[] {
  const y = lanes[lane] + spread(4);
  const bend = (service.x - guard.right) / 2;
  return [
    { x: breaker, y },
    { x: guard.right + bend * 0.4, y: y + (service.y - y) * 0.08 },
    { x: guard.right + bend, y: (y + service.y) / 2 },
  ];
}

/** Returns where requests of a kind are decided. */
export function stationOf(
  { cache, wait, lanes, service, users, breaker }: Geometry,
  kind: MarkKind,
  lane: Mark['lane'],
): Point {
  if (kind === 'cached' || kind === 'open') return cache;
  if (kind === 'joined') return { x: wait, y: lanes[lane] };
  if (kind === 'turnedBack') return { x: breaker - 34, y: lanes[lane] };
  if (kind === 'denied') return { x: users.x + 30, y: users.y };
  return { x: service.x - 40, y: service.y };
}

/** Returns a random distance up to a number of pixels, to either side. */
export function spread(pixels: number): number {
  return (Math.random() * 2 - 1) * pixels;
}
