// The order of the suites: those that take long begin first, so that none of them runs alone at the end.
import Sequencer from '@jest/test-sequencer';

/** The longest first. Jest knows how long suites take only where it ran them before, and goes by the size of their files elsewhere. */
const LONGEST = [
  'fleet/failures',
  'demo/page',
  'session-service/reference-service',
  'transport/slow-service',
  'fleet/leases',
  'messages/kafka',
  'lanes/overload',
  'fleet/cluster',
  'secrets/heap',
  'operations/rolling-deploy',
  'module/shutdown',
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
