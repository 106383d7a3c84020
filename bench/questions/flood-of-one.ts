import { compare } from '../compare.js';
import { race, type Contender, type LineUp, type Pair, type RaceResult } from '../race.js';
import type { Finding, Question } from '../question.js';
import type { Stage } from '../stage.js';
import { tokens } from '../users.js';
import { LONG_CACHE } from '../variants/variant.js';

const PATH = { path: '/openings', header: 'x-auth-token' };
const REFUSED = { ...PATH, values: tokens('refused', 1) };

const NAMES = {
  unguarded: 'unguarded, answering 200',
  ours: 'nestjs-session-auth',
  leastRefusal: 'limit: an exception that was made once, and no check',
  throwingRefusal: 'bare guard that throws a new exception, and no check',
  handWritten: 'hand-written guard with a Map',
} as const;

const PAIRS: readonly Pair[] = [[NAMES.ours, NAMES.throwingRefusal]];

/** Measures the cost of refusing one client that does not stop. */
export const floodOfOne: Question = {
  name: 'flood-of-one',
  title: 'Refusals of one refused token for a second of processor time (cache on)',
  ask: async (stage) => {
    const findings: Finding[] = [];
    for (const platform of ['Fastify', 'Express'] as const) {
      findings.push(...findingsOn(platform, await race(stage, () => lineUp(stage, platform), PAIRS)));
    }
    return {
      findings,
      notes: ['The hand-written guard caches users only, as most do: every refusal is a call.'],
    };
  },
};

async function lineUp(stage: Stage, platform: 'Express' | 'Fastify'): Promise<LineUp> {
  const farEnd = await stage.farEnd();
  const order = { platform, serviceUrl: farEnd.url, cache: LONG_CACHE };
  const start = stage.apps();
  const unguarded = {
    app: await start({ ...order, variant: 'unguarded' }),
    traffic: { ...PATH, values: tokens('user', 1) },
    expectedStatus: 200,
  } as const;
  const contenders: Contender[] = [
    { name: NAMES.unguarded, ...unguarded, callsPerRequest: 0 },
    {
      name: NAMES.ours,
      app: await start({ ...order, variant: 'ours' }),
      traffic: REFUSED,
      expectedStatus: 401,
      callsPerRequest: 0,
    },
    {
      name: NAMES.leastRefusal,
      app: await start({ ...order, variant: 'leastRefusal' }),
      traffic: REFUSED,
      expectedStatus: 401,
      callsPerRequest: 0,
    },
    {
      name: NAMES.throwingRefusal,
      app: await start({ ...order, variant: 'throwingRefusal' }),
      traffic: REFUSED,
      expectedStatus: 401,
      callsPerRequest: 0,
    },
    {
      name: NAMES.handWritten,
      // Apart, because it calls the service for each: its garbage would be collected in the laps of others, too.
      app: await stage.app({ ...order, variant: 'handWritten' }),
      traffic: REFUSED,
      expectedStatus: 401,
      callsPerRequest: 1,
    },
  ];
  return { contenders, farEnd };
}

function findingsOn(platform: string, result: RaceResult): Finding[] {
  return [
    compare(result, { platform, name: NAMES.ours, against: NAMES.unguarded }),
    compare(result, { platform, name: NAMES.ours, against: NAMES.throwingRefusal, atLeast: 0.95 }),
    compare(result, { platform, name: NAMES.leastRefusal, against: NAMES.unguarded }),
    compare(result, { platform, name: NAMES.handWritten, against: NAMES.unguarded }),
  ];
}
