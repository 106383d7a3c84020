import { describe, expect, it } from '@jest/globals';
import { layOut } from '../../apps/demo/page/lane/geometry.js';
import { MARKS_MAX, Traffic } from '../../apps/demo/page/lane/traffic.js';
import { type MarkEvent, type MarkKind } from '../../apps/demo/src/console/messages.js';

/** The bundles of requests beside the marks, at most. */
const BUNDLES_MAX = 500;
const FRAME_MS = 16;

/** Requests that come in, and the outcome of each. */
function requests(
  from: number,
  count: number,
  kind: MarkKind,
): { readonly came: MarkEvent[]; readonly settled: MarkEvent[] } {
  const ids = Array.from({ length: count }, (_, index) => from + index);
  return { came: ids.map((id) => [id, 'in', 'known']), settled: ids.map((id) => [id, kind]) };
}

/** Plays the picture until no mark is left. Resolves to when. */
function playToEnd(traffic: Traffic, from: number): number {
  let now = from;
  for (; traffic.marks.size > 0; now += FRAME_MS) {
    expect(now).toBeLessThan(from + 60_000);
    traffic.advance(now);
  }
  return now;
}

describe('the marks of the page', () => {
  it('have a bound for any number of requests, and any size of their batches', () => {
    const traffic = new Traffic(layOut(360), false);
    const kinds = ['cached', 'joined', 'asked', 'denied', 'turnedBack', 'unavailable'] as const;
    const { came } = requests(1, MARKS_MAX, 'cached');
    traffic.apply({ events: came, more: {} }, 0);
    for (let batch = 0; batch < 1_000; batch += 1) {
      traffic.apply({ events: [], more: Object.fromEntries(kinds.map((kind) => [kind, 1])) }, 1);
      expect(traffic.marks.size).toBeLessThanOrEqual(MARKS_MAX + BUNDLES_MAX);
    }
    traffic.apply({ events: [], more: { joined: 1_000_000 } }, 2);
    expect(traffic.marks.size).toBe(MARKS_MAX + BUNDLES_MAX);
    expect(traffic.counts.joined).toBeGreaterThan(900_000);
  });

  it('leave when their requests never complete', () => {
    const traffic = new Traffic(layOut(1278), false);
    traffic.apply({ events: requests(1, 3_000, 'cached').came, more: {} }, 0);
    expect(playToEnd(traffic, 0)).toBeGreaterThan(20_000);
    expect(traffic.counts).toMatchObject({ requests: 3_000, cached: 0 });
  });
});
