import assert from 'node:assert/strict';
import type { MemoryApi, CacheKind } from '../processes/memory.worker.js';
import type { Finding, Question } from '../question.js';
import { estimateOf } from '../estimate.js';
import type { Stage } from '../stage.js';
import { atMost, type Target } from '../target.js';

const SESSIONS = 100_000;

interface Candidate {
  readonly kind: CacheKind;
  readonly name: string;
  /** Sessions that are cached; the figure is extrapolated to all. */
  readonly cached: number;
  readonly target?: Target;
}

const CANDIDATES: readonly Candidate[] = [
  { kind: 'ours', name: 'nestjs-session-auth', cached: SESSIONS, target: atMost(42) },
  { kind: 'parsedJson', name: 'hand-written, Map of parsed JSON', cached: SESSIONS },
  {
    kind: 'wholeResponse',
    name: 'hand-written, Map of whole axios responses (10,000, times ten)',
    cached: SESSIONS / 10,
  },
];

/** Measures the memory of a large session cache. */
export const memory: Question = {
  name: 'memory',
  title: `Memory for ${SESSIONS.toLocaleString('en')} cached sessions`,
  ask: async (stage) => ({
    findings: await Promise.all(CANDIDATES.map((candidate) => fill(stage, candidate))),
    notes: [
      'Heap and external memory after a collection, less the use before. MB of 1,000,000 bytes. Some are asked for again.',
    ],
  }),
};

async function fill(stage: Stage, { kind, name, cached, target }: Candidate): Promise<Finding> {
  const service = await stage.service();
  const worker = stage.worker<MemoryApi>('memory', { execArgv: ['--expose-gc'] });
  const bytes = await worker.call('fill', { kind, serviceUrl: service.url, sessions: cached });
  const { user: filling = 0 } = await service.worker.call('takeCalls');
  assert.ok(filling >= cached, `${name} has asked for every session`);
  await worker.call('askAgain', { sessions: cached });
  assert.deepEqual(await service.worker.call('takeCalls'), { user: 0 }, `${name} caches every session`);
  await worker.stop();
  const value = estimateOf([(bytes / 1e6) * (SESSIONS / cached)]);
  return {
    subject: name,
    unit: 'MB',
    value,
    calls: `${filling} to fill, 0 after`,
    ...(target && { target }),
  };
}
