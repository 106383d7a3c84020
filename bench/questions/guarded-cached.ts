import { CHART_PLATFORM, compare } from '../compare.js';
import { race, type Contender, type LineUp, type Pair, type RaceResult } from '../race.js';
import type { Finding, Question } from '../question.js';
import type { RunningApp, RunningFarEnd, Stage } from '../stage.js';
import { tokens } from '../users.js';
import { findNginx, startNginx } from '../variants/nginx.js';
import { LONG_CACHE } from '../variants/variant.js';
import type { VariantName } from '../variants/variants.js';

const USERS = { path: '/openings', header: 'x-auth-token', values: tokens('user', 200) };

const NAMES = {
  unguarded: 'unguarded',
  ours: 'nestjs-session-auth',
  leastGuard: 'limit: digest, Map, user and headers only',
  handWritten: 'hand-written guard with a Map',
  passport: '@nestjs/passport with a Map',
} as const satisfies Partial<Record<VariantName, string>>;

const PAIRS: readonly Pair[] = [[NAMES.ours, NAMES.leastGuard]];

const CHART_GROUP = 'Session cached';
const NGINX = 'nginx auth_request with proxy_cache';
const NGINX_UNCHECKED = 'nginx without a check';

/** Measures the cost of the guard to an application whose sessions are cached. */
export const guardedCached: Question = {
  name: 'guarded-cached',
  title: 'Requests for a second of processor time when every session is cached',
  ask: async (stage) => {
    const findings: Finding[] = [];
    for (const platform of ['Fastify', 'Express'] as const) {
      findings.push(...findingsOn(platform, await race(stage, () => lineUp(stage, platform), PAIRS)));
    }
    const notes = [
      '200 users, all of them cached. @nestjs/passport with passport-custom. nginx stands in front of the unguarded application: its processor time counts too, and it pays for a proxy hop.',
    ];
    return {
      findings,
      notes: findNginx() ? notes : [...notes, 'nginx is not installed here; its lines are missing.'],
    };
  },
};

async function lineUp(stage: Stage, platform: 'Express' | 'Fastify'): Promise<LineUp> {
  const farEnd = await stage.farEnd();
  const start = stage.apps();
  const contenders: Contender[] = [];
  for (const [variant, name] of Object.entries(NAMES) as [keyof typeof NAMES, string][]) {
    const app = await start({ platform, variant, serviceUrl: farEnd.url, cache: LONG_CACHE });
    contenders.push({ name, app, traffic: USERS, expectedStatus: 200, callsPerRequest: 0 });
    if (variant === 'unguarded') contenders.push(...(await behindNginx(stage, app, farEnd)));
  }
  return { contenders, farEnd };
}

async function behindNginx(stage: Stage, app: RunningApp, farEnd: RunningFarEnd): Promise<Contender[]> {
  const program = findNginx();
  if (program === undefined) return [];
  const { url, cpuUs: moreCpuUs } = stage.keep(await startNginx(program, app.url, farEnd.url));
  const common = { app, url, moreCpuUs, expectedStatus: 200, callsPerRequest: 0 } as const;
  return [
    { name: NGINX_UNCHECKED, traffic: { ...USERS, path: '/unchecked' }, ...common },
    { name: NGINX, traffic: USERS, ...common },
  ];
}

function findingsOn(platform: string, result: RaceResult): Finding[] {
  const { unguarded, ours, leastGuard, ...peers } = NAMES;
  const against = unguarded;
  const bar = (label: string) =>
    platform === CHART_PLATFORM ? { bar: { group: CHART_GROUP, label, isOurs: label === ours } } : {};
  const nginx = [
    { platform, name: NGINX, against, ...bar(NGINX) },
    { platform, name: NGINX, against: NGINX_UNCHECKED },
  ];
  return [
    compare(result, { platform, name: ours, against, ...bar(ours) }),
    compare(result, {
      platform,
      name: ours,
      against: leastGuard,
      atLeast: platform === 'Fastify' ? 0.95 : 0.9,
    }),
    compare(result, { platform, name: leastGuard, against }),
    ...Object.values(peers).map((name) => compare(result, { platform, name, against, ...bar(name) })),
    ...(result.has(NGINX) ? nginx.map((comparison) => compare(result, comparison)) : []),
  ];
}
