import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { until } from '../support/until.js';
import { Fleet, PATIENCE_MS } from './fleet.js';
import { InstanceHosts } from './instance-hosts.js';
import type { Instance } from './instance.js';

const hosts = new InstanceHosts();
afterAll(() => hosts.close());

/** Instances that the tests of a suite share, each test with tokens of its own and an empty store. */
export interface SharedFleet extends Fleet {
  readonly all: readonly [Instance, Instance, Instance, ...Instance[]];
}

/** Call it inside `describe`. Starts fleets, whose instances run the library as its sources are now. */
export function fleets(): () => Promise<Fleet> {
  const started: Fleet[] = [];
  afterEach(async () => {
    for (const fleet of started.splice(0)) await fleet.close();
  });
  return async () => {
    const fleet = await Fleet.start(hosts);
    started.push(fleet);
    return fleet;
  };
}

/** Call it inside `describe`. Starts one fleet for all of its tests. */
export function sharedFleet(count: number): () => SharedFleet {
  let fleet: Fleet;
  let all: Instance[];
  beforeAll(async () => {
    fleet = await Fleet.start(hosts);
    all = await fleet.instances(count);
  });
  beforeEach(async () => {
    await fleet.reset();
  });
  afterAll(() => fleet.close());
  return () => Object.assign(fleet, { all: all as [Instance, Instance, Instance] });
}

/**
 * Checks a session on the first instance and, when it is in the store, on the others, which ask the service
 * only if the machine stalls for longer than they wait for the store.
 */
export async function expectAskedOnce(
  fleet: Fleet,
  [first, ...others]: readonly Instance[],
  token: string,
): Promise<void> {
  const { asked } = fleet;
  const { length } = await fleet.entries();
  expect(await first?.status(token)).toBe(200);
  await until('its session is stored', async () => (await fleet.entries()).length > length);
  const beganMs = performance.now();
  const statuses = await Promise.all(others.map((other) => other.status(token)));
  const hasStalled = performance.now() - beganMs >= PATIENCE_MS;
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(fleet.asked - asked).toBeLessThanOrEqual(hasStalled ? 1 + others.length : 1);
}
