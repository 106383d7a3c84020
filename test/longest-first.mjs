// The order of the suites: those that take long begin first, so that none of them runs alone at the end.
import Sequencer from '@jest/test-sequencer';

/**
 * The longest first. Jest knows how long suites take only where it ran them before, and goes by the size of
 * their files elsewhere.
 */
const LONGEST = [
  'demo/page',
  'session-service/reference-service',
  'secrets/heap',
  'fleet/failures',
  'demo/console',
  'graphql/upgrade-headers',
  'fleet/shared-tier',
  'fleet/cluster',
  'nest-add/project',
  'module/shutdown',
  'graphql/resolvers',
  'fleet/ends-that-arrive',
  'demo/console-and-settings',
  'operations/rolling-deploy',
  'messages/rabbitmq',
  'transport/slow-service',
  'simulation/simulation',
  'fleet/clocks-and-versions',
  'check/long-bodies',
  'session-service/postgres-instances',
  'session-service/contract',
  'graphql/fields',
  'service/sign-in-and-out',
  'lanes/breaker',
  'browsers/two-origins',
  'sockets/upgrade-headers',
  'commands/contract',
  'fleet/clocks-that-step',
  'demo/process',
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
