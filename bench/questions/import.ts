import type { ImportApi, ImportOrder } from '../processes/import.worker.js';
import type { Question } from '../question.js';
import { estimateOf } from '../estimate.js';
import type { Stage } from '../stage.js';
import { atMost } from '../target.js';

const ROUNDS = 11;

const OURS: readonly ImportOrder[] = [
  { packageName: 'nestjs-session-auth', way: 'import' },
  { packageName: 'nestjs-session-auth', way: 'require' },
];
/**
 * Packages that are not loaded at import: undici is loaded when an application starts, the others if the
 * application uses them.
 */
const OTHERS: readonly ImportOrder[] = ['undici', 'axios', 'class-validator'].map((packageName) => ({
  packageName,
  way: 'import',
}));

/** Measures an import of the library, without an application. */
export const importing: Question = {
  name: 'import',
  title: "Import of the library after NestJS's core, milliseconds",
  ask: async (stage) => {
    const orders = [...OURS, ...OTHERS];
    const times = new Map<ImportOrder, number[]>(orders.map((order) => [order, []]));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const order of orders) times.get(order)?.push(await load(stage, order));
    }
    const findings = orders.map((order) => {
      const { packageName, way } = order;
      const value = estimateOf(times.get(order) ?? []);
      const target = OURS.includes(order) ? { target: atMost(35) } : {};
      return { subject: `${way}('${packageName}')`, unit: 'ms', value, ...target };
    });
    const notes = [
      `Processor time, after a collection of the garbage that loading NestJS left. ${ROUNDS} rounds of new processes, in turn.`,
    ];
    return { findings, notes };
  },
};

async function load(stage: Stage, order: ImportOrder): Promise<number> {
  const worker = stage.worker<ImportApi>('import', { execArgv: ['--expose-gc'] });
  const times = await worker.call('load', order);
  await worker.stop();
  return times;
}
