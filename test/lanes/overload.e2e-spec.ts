import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IS_LONG_FORM } from '../support/long-form.js';
import { Flood, servedPart, type Kind } from './flood.js';
import { boundedService, unboundedService, type ServiceModel } from './service-models.js';
import { VirtualClock } from './virtual-clock.js';

/** What a machine needs for the simulation grows with the requests: a service that takes more of them is flooded for a shorter time. */
const LONG_FLOOD_MS = IS_LONG_FORM ? 30_000 : 10_000;
const SHORT_FLOOD_MS = IS_LONG_FORM ? LONG_FLOOD_MS : 3_000;

/** What a service makes of a flood of junk, in virtual time: the same figures on every machine. */
describe.each<[string, (clock: VirtualClock) => ServiceModel, number]>([
  ['answers any number of requests in 450 ms', (clock) => unboundedService(clock, 450, 128), LONG_FLOOD_MS],
  ['works on 16 requests of 450 ms at a time, and queues the others itself', (clock) => boundedService(clock, 450, 16), LONG_FLOOD_MS],
  ['works on 16 requests of 20 ms at a time, and queues the others itself', (clock) => boundedService(clock, 20, 16), SHORT_FLOOD_MS],
])('a service that %s', (_name, serviceOn, floodMs) => {
  let clock: VirtualClock;

  beforeEach(() => {
    clock = new VirtualClock().install();
  });
  afterEach(() => void jest.restoreAllMocks());

  async function floodOf(times: number): Promise<Record<Kind, number>> {
    const flood = new Flood(clock, serviceOn(clock));
    await flood.run(times, floodMs);
    const { known, new: unknown, junk } = flood.outcomes;
    return { known: servedPart(known), new: servedPart(unknown), junk: servedPart(junk) };
  }

  const sentence = 'serves known users under %d times the junk that it can answer, and new users as the junk';
  it.each([1.5, 3, 10])(sentence, servesUnder);

  async function servesUnder(times: number): Promise<void> {
    const served = await floodOf(times);

    expect(served.known).toBeGreaterThanOrEqual(0.99);
    const left = 0.8 / (times + 0.05);
    expect(served.new).toBeGreaterThan(left * 0.6);
    expect(served.junk).toBeGreaterThan(left * 0.6);
  }
});
