import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LaneTrial, type LaneEvent, type LaneSizes, type Reply } from './lane-trial.js';
import { Counts, failOnRejections, limitMs, runsOf, tryCases } from './runs.js';

const runs = runsOf('lanes', 300, 0.15);
failOnRejections();

const user = fc.nat(9);
const place = fc.nat(99);
const reply = fc.constantFrom<Reply[]>(
  'authenticated',
  'authenticated',
  'unauthenticated',
  'forbidden',
  'unavailable',
);
const event: fc.Arbitrary<LaneEvent> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('arrives' as const), user }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('stranger arrives' as const) }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('is answered' as const), place, reply }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('times out' as const), place }) },
  {
    weight: 2,
    arbitrary: fc.oneof(
      fc.record({ kind: fc.constant('signs in' as const), user }),
      fc.record({ kind: fc.constant('signs out' as const), user }),
    ),
  },
);
/** Up to 16 places, which no limit of strangers reduces. */
const sizes: fc.Arbitrary<LaneSizes> = fc.record({
  maxInFlight: fc.integer({ min: 1, max: 16 }),
  maxQueued: fc.nat(12),
});
const laneCase = fc.record({ sizes, events: fc.array(event, { minLength: 1, maxLength: 60, size: 'max' }) });

it(
  'keeps every place, the order and the share of each lane, for any arrivals, answers and timeouts',
  async () => {
    const counts = new Counts();
    await tryCases(
      'lanes',
      runs,
      laneCase,
      async ({ sizes: own, events }) => {
        const trial = new LaneTrial(own);
        for (const next of events) await trial.apply(next);
        await trial.end();
        counts.add('events', events.length);
        for (const outcome of trial.outcomes) counts.add(outcome);
        expect(trial.violation).toBeUndefined();
      },
      counts,
    );
    for (const outcome of ['authenticated', 'unauthenticated', 'forbidden', 'unavailable', 'busy', 'timeout'])
      expect(counts.get(outcome) ?? 0).toBeGreaterThan(runs.cases / 10);
  },
  limitMs(runs),
);
