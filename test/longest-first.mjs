// The order of the suites: those that take long begin first, so that none of them runs alone at the end.
import Sequencer from '@jest/test-sequencer';

/**
 * The longest first. Jest knows how long suites take only where it ran them before, and goes by the size of
 * their files elsewhere.
 */
const LONGEST = [
  'demo/page',
  'nest-add/project',
  'fleet/ends-that-arrive',
  'secrets/heap',
  'fleet/failures',
  'simulation/simulation',
  'session-service/reference-service',
  'check/application-code',
  'demo/console',
  'messages/rabbitmq',
  'module/shutdown',
  'graphql/upgrade-headers',
  'graphql/resolvers',
  'browsers/two-origins',
  'service/scripts',
  'commands/contract',
  'session-service/contract',
  'revocation/forgotten-users',
  'fuzz/wire-to-verdict',
  'graphql/fields',
  'revocation/sign-out-in-a-fleet',
  'transport/slow-service',
  'lanes/known-users',
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
