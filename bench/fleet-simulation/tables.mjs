import { broadcast } from './broadcast.mjs';
import { figure, percent } from './figures.mjs';
import { modelled } from './model.mjs';
import * as scenarios from './scenarios.mjs';
import { storeCost } from './store-cost.mjs';

const { FLEET, TYPICAL } = scenarios;

/** Returns the fleet with both kinds of balancing. */
const both = (changes) => ({
  random: modelled({ ...FLEET, ...changes, balancing: 'random' }),
  sticky: modelled({ ...FLEET, ...changes, balancing: 'sticky' }),
});

const grid = () =>
  scenarios.EXPONENTS.flatMap((exponent) =>
    scenarios.RATES_PER_INSTANCE.flatMap((ratePerInstance) =>
      scenarios.LIFETIMES.map((ttl) => ({ exponent, ratePerInstance, ttl })),
    ),
  ).map((changes) => ({
    ...both(changes),
    name: [changes.exponent, changes.ratePerInstance, changes.ttl].map(String),
  }));

const GRID_HEADS = ['Zipf exponent', 'requests per instance and second', 'lifetime, s'];

export function callsTable() {
  const heads = [
    ...GRID_HEADS,
    'cache off',
    'cache, random',
    'cache, sticky',
    'store',
    'reach the service with the store',
  ];
  const rows = grid().map(({ name, random, sticky }) => [
    ...name,
    ...[random.callsUncached, random.callsWithoutStore, sticky.callsWithoutStore, random.callsWithStore].map(
      figure,
    ),
    percent(random.callsWithStore / random.requests),
  ]);
  return { title: 'Calls to the session service per second', heads, rows };
}

export function storeTable(redis) {
  const heads = [
    ...GRID_HEADS,
    'operations/s, random',
    'operations/s, sticky',
    'operations per call spared, random',
  ];
  heads.push(
    'MB/s, random',
    'sessions stored',
    'GB',
    'processors, random',
    'processors, sticky',
    'operations/s of a Cluster, random',
  );
  const rows = grid().map(({ name, random, sticky }) => {
    const [cost, stickyCost] = [storeCost(random, redis), storeCost(sticky, redis)];
    const perSpared = cost.operations / (random.callsWithoutStore - random.callsWithStore);
    const figures = [
      cost.operations,
      stickyCost.operations,
      perSpared,
      cost.megabytesPerSecond,
      random.storedSessions,
      cost.gigabytes,
    ];
    return [
      ...name,
      ...[...figures, cost.processors, stickyCost.processors, cost.operationsInCluster].map(figure),
    ];
  });
  return { title: 'The store', heads, rows };
}

export function memoryTable(bytesPerEntry, redis) {
  const heads = [
    'Zipf exponent',
    'lifetime, s',
    'maxEntries',
    'MB held, random',
    'sessions within a lifetime, random',
    'calls/s, random',
  ];
  heads.push('sessions within a lifetime, sticky', 'calls/s, sticky', 'operations/s of a store, random');
  const { ratePerInstance } = TYPICAL;
  const cases = scenarios.EXPONENTS.flatMap((exponent) =>
    [60, 300].map((ttl) => ({ exponent, ttl, ratePerInstance })),
  );
  const rows = cases.flatMap((changes) =>
    scenarios.ENTRY_BOUNDS.map((maxEntries) => {
      const { random, sticky } = both({ ...changes, maxEntries });
      const megabytes = (random.entriesHeld * bytesPerEntry) / 1e6;
      const figures = [
        maxEntries,
        megabytes,
        random.entriesInUse,
        random.callsWithoutStore,
        sticky.entriesInUse,
        sticky.callsWithoutStore,
      ];
      return [
        String(changes.exponent),
        String(changes.ttl),
        ...[...figures, storeCost(random, redis).operations].map(figure),
      ];
    }),
  );
  return { title: 'Memory of an instance', heads, rows };
}

/** Fleets that grow with their users: each has as many users per instance as the whole fleet. */
export function fleetSizes() {
  const usersPerInstance = FLEET.users / FLEET.instances;
  return scenarios.FLEET_SIZES.map((instances) => ({
    instances,
    ...both({ ...TYPICAL, instances, users: instances * usersPerInstance }),
  }));
}

export function fleetSizeTable(redis) {
  const heads = [
    'instances',
    'users',
    'requests/s',
    'cache, random',
    'cache, sticky',
    'store',
    'store operations/s, random',
  ];
  heads.push('calls spared by the store per second, random', 'processors of Redis, random', 'MB stored');
  heads.push('operations/s of a Cluster, random', 'processors of a Cluster, random');
  const rows = fleetSizes().map(({ instances, random, sticky }) => {
    const shares = [random.callsWithoutStore, sticky.callsWithoutStore, random.callsWithStore].map((calls) =>
      percent(calls / random.requests),
    );
    const { operations, processors, gigabytes, operationsInCluster, processorsInCluster } = storeCost(
      random,
      redis,
    );
    const spared = random.callsWithoutStore - random.callsWithStore;
    const size = [instances, (instances * FLEET.users) / FLEET.instances, random.requests].map(figure);
    const figures = [
      operations,
      spared,
      processors,
      gigabytes * 1_000,
      operationsInCluster,
      processorsInCluster,
    ];
    return [...size, ...shares, ...figures.map(figure)];
  });
  return { title: 'Requests that reach the session service, by the size of the fleet', heads, rows };
}

export function broadcastTable(redis) {
  const heads = [
    'sign-outs per user and day',
    'nodes',
    'pub/sub',
    'sign-outs/s',
    'deliveries/s',
    'deliveries/s per node',
    'MB/s',
    'processors',
  ];
  heads.push('messages/s into a node', 'bus messages/s', 'bus MB/s', 'subscriptions', 'tombstones, MB');
  const rows = scenarios.SIGN_OUTS_PER_USER_AND_DAY.flatMap((signOutsPerUserAndDay) =>
    scenarios.CLUSTER_NODES.flatMap((nodes) =>
      (nodes === 1 ? [false] : [false, true]).map((isSharded) => {
        const cost = broadcast({ ...FLEET, nodes, signOutsPerUserAndDay, isSharded }, redis);
        const figures = [
          cost.signOuts,
          cost.deliveries,
          cost.deliveriesPerNode,
          cost.megabytes,
          cost.processors,
          cost.messagesPerNode,
        ];
        const bus = [cost.busMessages, cost.busMegabytes, cost.subscriptions, cost.markMegabytes];
        return [
          String(signOutsPerUserAndDay),
          String(nodes),
          isSharded ? 'sharded' : 'plain',
          ...[...figures, ...bus].map(figure),
        ];
      }),
    ),
  );
  return { title: 'Publishing sign-outs to every instance', heads, rows };
}

export function validationTable(validated) {
  const measures = ['callsWithoutStore', 'callsWithStore', 'reads'];
  const heads = [
    'Zipf exponent',
    'lifetime, s',
    'balancing',
    'cache alone: calls/s',
    'store: calls/s',
    'store: reads/s',
  ];
  const rows = validated.map(({ fleet, counted, deviations }) => [
    String(fleet.exponent),
    String(fleet.ttl),
    fleet.balancing,
    ...measures.map((name) =>
      name in deviations ? `${figure(counted[name])} (${signed(deviations[name])})` : '',
    ),
  ]);
  return { title: 'Formula against simulation', heads, rows };
}

function signed(part) {
  return `${part < 0 ? '' : '+'}${percent(part)}`;
}
