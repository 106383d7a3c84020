import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { Fleet } from './fleet.js';
import { InstanceHosts } from './instance-hosts.js';
import type { Instance } from './instance.js';
import type { InstanceSettings } from './instance-settings.js';

/** Processes start slowly on a busy machine. */
export const TIMEOUT_MS = 300_000;

const hosts = new InstanceHosts();
afterAll(() => hosts.close(), TIMEOUT_MS);

/** Instances that the tests of a suite share, each test with tokens of its own and an empty store. */
export interface SharedFleet extends Fleet {
  readonly all: readonly [Instance, Instance, Instance, ...Instance[]];
}

/** Call it inside `describe`. Starts fleets, whose instances run the library as its sources are now. */
export function fleets(): (...settings: string[]) => Promise<Fleet> {
  const started: Fleet[] = [];
  afterEach(async () => {
    for (const fleet of started.splice(0)) await fleet.close();
  }, TIMEOUT_MS);
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
  }, TIMEOUT_MS);
  beforeEach(async () => {
    await fleet.reset();
  });
  afterAll(() => fleet.close(), TIMEOUT_MS);
  return () => Object.assign(fleet, { all: all as [Instance, Instance, Instance] });
}
