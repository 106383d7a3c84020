import { compare } from '../compare.js';
import { race, type LineUp } from '../race.js';
import type { Question } from '../question.js';
import type { Stage } from '../stage.js';
import { tokens } from '../users.js';
import { LONG_CACHE, type Switch } from '../variants/variant.js';

const TOKENS = tokens('user', 200);
const USERS = { path: '/openings', header: 'x-auth-token', values: TOKENS };
const USERS_WITH_COOKIE = { ...USERS, header: 'cookie', values: TOKENS.map((token) => `session=${token}`) };
const NO_SWITCH = 'nestjs-session-auth, all switches off';

const NAMES: Readonly<Record<Switch, string>> = {
  asyncContext: 'asyncContext: true',
  authority: 'authority: () => name',
  decisions: 'decisions$ with a subscriber that does nothing',
  policy: '@Authorize() with a policy class',
  cookie: 'fromCookie(), with the check of the origin',
};

/** The price of each switch to an application whose users are known. */
export const switches: Question = {
  name: 'switches',
  title: 'Requests per second with one switch on, and every session cached',
  ask: async (stage) => {
    const result = await race(stage, () => lineUp(stage));
    const findings = Object.values(NAMES).map((name) => compare(result, { platform: 'Fastify', name, against: NO_SWITCH }));
    return { findings, notes: ['200 users. One process for each line; its guard is the same, with one option or decorator more.'] };
  },
};

async function lineUp(stage: Stage): Promise<LineUp> {
  const service = await stage.service();
  const order = { platform: 'Fastify', variant: 'ours', serviceUrl: service.url, cache: LONG_CACHE } as const;
  const expected = { expectedStatus: 200, callsPerRequest: 0 } as const;
  const contenders = [{ name: NO_SWITCH, app: await stage.app(order), traffic: USERS, ...expected }];
  for (const [switchedOn, name] of Object.entries(NAMES) as [Switch, string][]) {
    const app = await stage.app({ ...order, switchedOn });
    contenders.push({ name, app, traffic: switchedOn === 'cookie' ? USERS_WITH_COOKIE : USERS, ...expected });
  }
  return { contenders, service };
}
