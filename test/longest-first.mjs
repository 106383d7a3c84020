// The order of the suites: those that take long begin first, so that none of them runs alone at the end.
import Sequencer from '@jest/test-sequencer';

/** The longest first. Jest knows how long suites take only where it ran them before, and goes by the size of their files elsewhere. */
const LONGEST = [
  'demo/page',
  'session-service/reference-service',
  'fleet/failures',
  'lanes/overload',
  'fleet/leases',
  'fleet/shared-tier',
  'fleet/cluster',
  'operations/rolling-deploy',
  'transport/slow-service',
  'secrets/heap',
  'demo/console',
  'check/bodies',
  'cache/refusals',
  'session-service/postgres-instances',
  'graphql/resolvers',
  'http-service/limits',
  'lanes/known-users',
  'module/shutdown',
  'fleet/clocks-and-versions',
];

const rankOf = ({ path }) => {
  const rank = LONGEST.findIndex((name) => path.endsWith(`/test/${name}.e2e-spec.ts`));
  return rank < 0 ? LONGEST.length : rank;
};

export default class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const isKnown = sorted.some((test) => test.duration !== undefined);
    return isKnown ? sorted : sorted.sort((one, other) => rankOf(one) - rankOf(other));
  }
}
