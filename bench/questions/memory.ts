import assert from 'node:assert/strict';
import type { MemoryApi, MemoryKind } from '../processes/memory.worker.js';
import type { Finding, Question } from '../question.js';
import { spreadOf } from '../spread.js';
import type { Stage } from '../stage.js';
import { atMost, type Target } from '../target.js';

const SESSIONS = 100_000;

interface Way {
  readonly kind: MemoryKind;
  readonly name: string;
  /** How many are really remembered; the figure is for all. */
  readonly remembered: number;
  readonly target?: Target;
}

const WAYS: readonly Way[] = [
  { kind: 'ours', name: 'nestjs-session-auth', remembered: SESSIONS, target: atMost(42) },
  { kind: 'parsedJson', name: 'hand-written, Map of parsed JSON', remembered: SESSIONS },
  { kind: 'wholeResponse', name: 'hand-written, Map of whole axios responses (10,000, times ten)', remembered: SESSIONS / 10 },
];

/** What it costs to remember a city. */
export const memory: Question = {
  name: 'memory',
  title: `Memory for ${SESSIONS.toLocaleString('en')} remembered sessions`,
  ask: async (stage) => ({
    findings: await Promise.all(WAYS.map((way) => fill(stage, way))),
    notes: ['Heap and external memory after a collection, less what was in use before. MB of 1,000,000 bytes. Some are asked for again.'],
  }),
};

async function fill(stage: Stage, { kind, name, remembered, target }: Way): Promise<Finding> {
  const service = await stage.service();
  const worker = stage.worker<MemoryApi>('memory', ['--expose-gc']);
  const bytes = await worker.call('fill', { kind, serviceUrl: service.url, sessions: remembered });
  const { user: filling = 0 } = await service.worker.call('takeCalls');
  assert.ok(filling >= remembered, `${name} has asked for every session`);
  await worker.call('askAgain', { sessions: remembered });
  assert.deepEqual(await service.worker.call('takeCalls'), { user: 0 }, `${name} remembers every session`);
  await worker.stop();
  const value = spreadOf([(bytes / 1e6) * (SESSIONS / remembered)]);
  return { subject: name, unit: 'MB', value, calls: `${filling} to fill, 0 after`, ...(target && { target }) };
}
