import type { StartAppApi, StartOrder, StartTimes } from '../processes/start-app.worker.js';
import type { Question } from '../question.js';
import { estimateOf } from '../estimate.js';
import type { Stage } from '../stage.js';
import { atMost } from '../target.js';

const ROUNDS = 16;

/** Measures the time that the module adds to the start of an application. */
export const start: Question = {
  name: 'start',
  title: 'Start of an application with the module against one without, milliseconds more',
  ask: async (stage) => {
    const rounds: { bare: StartTimes; without: StartTimes; undici: StartTimes; with: StartTimes }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const bare = await startApp(stage, {});
      const without = await startApp(stage, { peers: true });
      const undici = await startApp(stage, { peers: true, undici: true });
      rounds.push({ bare, without, undici, with: await startApp(stage, { peers: true, module: true }) });
    }
    const more = (read: (round: (typeof rounds)[number]) => number) => estimateOf(rounds.slice(1).map(read));
    return {
      findings: [
        {
          subject: 'whole process; both load @nestjs/axios, axios, class-validator and class-transformer',
          unit: 'ms',
          value: more((round) => round.with.processMs - round.without.processMs),
        },
        {
          subject: 'of which: loading undici',
          unit: 'ms',
          value: more((round) => round.undici.processMs - round.without.processMs),
        },
        {
          subject: 'NestFactory.create() and init() alone',
          unit: 'ms',
          value: more((round) => round.with.buildMs - round.without.buildMs),
          target: atMost(10),
        },
        {
          subject: 'whole process, when the application had none of these peers',
          unit: 'ms',
          value: more((round) => round.with.processMs - round.bare.processMs),
        },
      ],
      notes: [
        `Processor time, Fastify. ${ROUNDS - 1} rounds of new processes, in turn; a first round does not count. Garbage of loading is collected before create(): the collection would be due within it with the module, and soon after it without. The module loads undici after init(): the whole process has it, the last row but one has not.`,
      ],
    };
  },
};

async function startApp(stage: Stage, order: StartOrder): Promise<StartTimes> {
  const worker = stage.worker<StartAppApi>('start-app', { execArgv: ['--expose-gc'] });
  const times = await worker.call('start', order);
  await worker.stop();
  return times;
}
