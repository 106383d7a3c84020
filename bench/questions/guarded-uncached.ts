import { CHART_PLATFORM, compare } from '../compare.js';
import { race, type Contender, type LineUp, type Pair, type RaceResult } from '../race.js';
import type { Finding, Question } from '../question.js';
import type { Stage } from '../stage.js';
import { tokens } from '../users.js';
import { keycloakRealm } from '../variants/realm.js';
import type { VariantName } from '../variants/variants.js';

/** Enough that no two requests in flight present the same token: no call is shared. */
const TOKENS = 2_000;
const KEYCLOAK_TOKENS = 500;

const NAMES = {
  unguarded: 'unguarded',
  ours: 'nestjs-session-auth',
  undiciDispatch: 'limit: undici in a bare guard',
  handWritten: 'hand-written guard',
  passport: '@nestjs/passport + passport-custom',
  keycloak: 'nest-keycloak-connect, online',
} as const satisfies Partial<Record<VariantName, string>>;

const PAIRS: readonly Pair[] = [
  [NAMES.ours, NAMES.undiciDispatch],
  [NAMES.ours, NAMES.handWritten],
  [NAMES.ours, NAMES.keycloak],
];

const PEERS: ReadonlySet<keyof typeof NAMES> = new Set(['handWritten', 'passport', 'keycloak']);

const CHART_GROUP = 'Cache off: each request calls the session service';

/** Measures the cost of a call to the service on every request. */
export const guardedUncached: Question = {
  name: 'guarded-uncached',
  title: 'Requests for a second of processor time when every request asks the service (cache off)',
  ask: async (stage) => {
    const findings: Finding[] = [];
    for (const platform of ['Fastify', 'Express'] as const) {
      findings.push(...findingsOn(platform, await race(stage, () => lineUp(stage, platform), PAIRS)));
    }
    return {
      findings,
      notes: [
        'The service answers at once. Every request brings another token, so that no two share a call.',
      ],
    };
  },
};

async function lineUp(stage: Stage, platform: 'Express' | 'Fastify'): Promise<LineUp> {
  const farEnd = await stage.farEnd();
  const realm = keycloakRealm(farEnd.url, KEYCLOAK_TOKENS);
  const users = { header: 'x-auth-token', values: tokens('user', TOKENS) };
  // Apart from the peers, whose garbage is collected in the laps of others, too.
  const start = stage.apps();
  const startPeer = stage.apps();
  const contenders: Contender[] = [];
  for (const [variant, name] of Object.entries(NAMES) as [keyof typeof NAMES, string][]) {
    const app = await (PEERS.has(variant) ? startPeer : start)({
      platform,
      variant,
      serviceUrl: farEnd.url,
      realmPublicKey: realm.publicKey,
    });
    const presented = variant === 'keycloak' ? { header: 'authorization', values: realm.bearers } : users;
    const callsPerRequest = variant === 'unguarded' ? 0 : 1;
    contenders.push({
      name,
      app,
      traffic: { path: '/openings', ...presented },
      expectedStatus: 200,
      callsPerRequest,
    });
  }
  return { contenders, farEnd };
}

function findingsOn(platform: string, result: RaceResult): Finding[] {
  const { unguarded, ours, ...peers } = NAMES;
  const isFast = platform === 'Fastify';
  const bar = (label: string) =>
    platform === CHART_PLATFORM ? { bar: { group: CHART_GROUP, label, isOurs: label === ours } } : {};
  return [
    ...[ours, ...Object.values(peers)].map((name) =>
      compare(result, { platform, name, against: unguarded, ...bar(name) }),
    ),
    compare(result, { platform, name: ours, against: peers.handWritten, atLeast: isFast ? 5 : 3 }),
    compare(result, { platform, name: ours, against: peers.keycloak, atLeast: isFast ? 4 : 2.7 }),
    compare(result, { platform, name: ours, against: peers.passport }),
    compare(result, { platform, name: ours, against: peers.undiciDispatch, atLeast: 0.85 }),
  ];
}
