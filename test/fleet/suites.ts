import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { Fleet, PATIENCE_MS } from './fleet.js';
import { InstanceHosts } from './instance-hosts.js';
import type { Instance } from './instance.js';
import type { InstanceSettings } from './instance-settings.js';

const hosts = new InstanceHosts();
afterAll(() => hosts.close());

/** Instances that the tests of a suite share, each test with tokens of its own and an empty store. */
export interface SharedFleet extends Fleet {
  readonly all: readonly [Instance, Instance, Instance, ...Instance[]];
}

/** Call it inside `describe`. Starts fleets, whose instances run the library as its sources are now. */
export function fleets(): (...settings: string[]) => Promise<Fleet> {
  const started: Fleet[] = [];
  afterEach(async () => {
    for (const fleet of started.splice(0)) await fleet.close();
  });
  return async (...settings) => {
    const fleet = await Fleet.start(hosts, ...settings);
    started.push(fleet);
    return fleet;
  };
}

/** Call it inside `describe`. Starts one fleet for all of its tests. */
export function sharedFleet(count: number, settings: Partial<InstanceSettings> = {}): () => SharedFleet {
  let fleet: Fleet;
  let all: Instance[];
  beforeAll(async () => {
    fleet = await Fleet.start(hosts);
    all = await fleet.instances(count, settings);
  });
  beforeEach(async () => {
    await fleet.reset();
  });
  afterAll(() => fleet.close());
  return () => Object.assign(fleet, { all: all as [Instance, Instance, Instance] });
}

/**
 * Once, unless the machine stalls: an instance asks too when the store, or the holder of the lease, lets it
 * wait for `PATIENCE_MS`.
 */
export async function expectAskedOnce(
  fleet: Fleet,
  instances: readonly Instance[],
  token: string,
): Promise<void> {
  const [before, beganMs] = [fleet.asked, performance.now()];
  const statuses = await Promise.all(instances.map((instance) => instance.status(token)));
  const hasStalled = performance.now() - beganMs >= PATIENCE_MS;
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(fleet.asked - before).toBeGreaterThanOrEqual(1);
  expect(fleet.asked - before).toBeLessThanOrEqual(hasStalled ? instances.length : 1);
}
