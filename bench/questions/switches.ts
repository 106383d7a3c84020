import type { SwitchesApi } from '../processes/switches.worker.js';
import type { Finding, Question } from '../question.js';
import { ratios, estimateOf } from '../estimate.js';
import type { Stage } from '../stage.js';
import { token } from '../users.js';
import type { Switch } from '../variants/variant.js';

const ROUNDS = 80;
const NONE = 'none';
const WITHOUT = 'all switches off';

const NAMES: Readonly<Record<Switch, string>> = {
  decisions: 'decisions$ with a subscriber that does nothing',
  policy: '@Authorize() with a policy class',
  cookie: 'fromCookie(), with the check of the origin',
};

/** Measures the cost of each feature to an application whose sessions are cached. */
export const switches: Question = {
  name: 'switches',
  title: 'Processor time of a request with one switch on, and its session cached',
  ask: async (stage) => {
    const times = await measure(stage);
    const base = times.get(NONE) ?? [];
    const findings = Object.entries(NAMES).flatMap(([name, subject]): Finding[] => {
      const own = times.get(name) ?? [];
      return [
        { subject, unit: 'us', value: estimateOf(own) },
        { subject, against: WITHOUT, unit: 'ratio', value: ratios(own, base) },
      ];
    });
    return {
      findings: [{ subject: WITHOUT, unit: 'us', value: estimateOf(base) }, ...findings],
      notes: NOTES,
    };
  },
};

const NOTES = [
  'Fastify, requests injected without a network: most of a request is missing, so the ratios are worse than over HTTP.',
];

async function measure(stage: Stage): Promise<ReadonlyMap<string, number[]>> {
  const { url: serviceUrl } = await stage.service();
  const worker = stage.worker<SwitchesApi>('switches');
  await worker.call('start', {
    serviceUrl,
    token: token('user', 1),
    switches: [NONE, 'decisions', 'policy', 'cookie'],
  });
  const times = new Map<string, number[]>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, time] of Object.entries(await worker.call('round')))
      times.set(name, [...(times.get(name) ?? []), time]);
  }
  await stage.close();
  return times;
}
