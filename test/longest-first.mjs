// The order of the suites: those that take long begin first, so that none of them runs alone at the end.
import Sequencer from '@jest/test-sequencer';

/** The longest first. Jest knows how long suites take only where it ran them before, and goes by the size of their files elsewhere. */
const LONGEST = [
  'demo/page',
  'demo/console',
  'fleet/cluster',
  'session-service/reference-service',
  'fleet/failures',
  'fleet/shared-tier',
  'fleet/leases',
  'transport/slow-service',
  'secrets/heap',
  'simulation/simulation',
  'revocation/sign-out-in-a-fleet',
  'revocation/forgotten-users',
  'operations/rolling-deploy',
  'browsers/two-origins',
  'fleet/clocks-and-versions',
  'session-service/contract',
  'module/shutdown',
  'session-service/postgres-instances',
  'messages/rabbitmq',
  'demo/console-and-settings',
  'lanes/known-users',
  'check/bodies',
  'graphql/resolvers',
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
