import type { SeededRandom } from '../support/seeded-random.js';
import {
  changesOf,
  changingSteps,
  differing,
  likeOthers,
  SAME_NAMES,
  type PlannedHost,
  type RecordNames,
} from './changes.js';
import type { InstanceSettings } from './instance.js';
import type { Lies } from './liar.js';
import type { Limits } from './limits.js';
import type { NetworkHealth } from './network.js';
import { chance, wholeBetween } from './random.js';
import type { ServiceHealth } from './service.js';
import type { Scope, Step } from './steps.js';
import { EPOCH_MS } from './world.js';

/** A session that exists in the service from the start. */
interface PlannedSession {
  readonly token: string;
  readonly username: string;
  readonly authIv: string | undefined;
  readonly isValid: boolean;
}

/** All choices that are made before a history begins. */
export interface Plan {
  readonly kind: 'calm' | 'ordinary' | 'rough' | 'lying';
  readonly settings: InstanceSettings;
  readonly hasStore: boolean;
  readonly storeTimeoutMs: number;
  /** How the fleet changes, and its instances differ. */
  readonly features: readonly string[];
  readonly hosts: readonly PlannedHost[];
  /** Sizes of tables of the library, if they are small. */
  readonly limits: Limits | undefined;
  readonly record: RecordNames;
  readonly storeClockMs: number;
  readonly sessions: readonly PlannedSession[];
  readonly service: ServiceHealth;
  readonly network: NetworkHealth;
  readonly lies: Lies | undefined;
  readonly steps: readonly Step[];
  /** Milliseconds that the service allows caching, if its responses limit it. */
  readonly cacheForMs: number | undefined;
  /**
   * Whether the service answers each call in less than a third of the check's time throughout the history.
   */
  readonly isServiceWell: boolean;
}

const CLEAN: NetworkHealth = {
  leastMs: 0.1,
  mostMs: 1,
  slow: 0,
  lostRequests: 0,
  lostReplies: 0,
  refused: 0,
  repeated: 0,
  lostMessages: 0,
  repeatedMessages: 0,
  isOrdered: true,
};

export function planHistory(random: SeededRandom): Plan {
  const kind = random.pick(['calm', 'ordinary', 'ordinary', 'ordinary', 'rough', 'rough', 'lying'] as const);
  const isCalm = kind === 'calm';
  const timeoutMs = random.pick([300, 600, 1_000] as const);
  const ttlMs = isCalm
    ? random.pick([400, 1_000, 3_000] as const)
    : random.pick([120, 400, 1_000, 3_000] as const);
  const service = serviceOf(random, timeoutMs, isCalm);
  const changes =
    chance(random, 0.5) && (kind === 'ordinary' || kind === 'rough') ? changesOf(random) : undefined;
  const users = wholeBetween(random, 1, changes?.isCrowded ? 5 : 2);
  const sessions = Array.from(
    { length: isCalm ? 1 : wholeBetween(random, 1, changes?.isCrowded ? 7 : 3) },
    (_, index) => ({
      token: `token-${index}`,
      username: `user-${index % users}`,
      authIv: index === 1 ? 'iv-1' : undefined,
      isValid: isCalm || chance(random, 0.9),
    }),
  );
  const lies =
    kind === 'lying'
      ? {
          part: random.pick([0.05, 0.3, 1] as const),
          aboutTime: chance(random, 0.5),
          aboutState: chance(random, 0.7),
        }
      : undefined;
  const staleIfErrorMs = isCalm || chance(random, 0.7) ? 0 : ttlMs;
  const memory = {
    ttlMs,
    negativeTtlMs: random.pick([0, 50, 500] as const),
    maxEntries: 100,
    refreshAheadMs: chance(random, 0.4) ? Math.floor(ttlMs / random.pick([2, 4] as const)) : 0,
    staleIfErrorMs,
  };
  const plainHosts = Array.from({ length: wholeBetween(random, isCalm ? 2 : 1, 4) }, () => ({
    uptimeMs: random.pick([5, 1_000, 1e6] as const) * (1 + random.next()),
    wallOffsetMs: isCalm || lies ? 0 : wallOffsetOf(random),
    ...likeOthers(memory),
  }));
  const scope: Scope = {
    kind,
    random,
    hosts: plainHosts.length,
    sessions: sessions.length,
    spanMs: Math.min(2_500, 2 * ttlMs),
    service,
    timeoutMs,
    ttlMs,
  };
  const hosts = changes ? differing(random, plainHosts, changes, scope.spanMs) : plainHosts;
  const changing = changes ? changingSteps(scope, changes) : [];
  const steps = isCalm
    ? calmSteps(scope)
    : [...stepsOf(scope), ...(changes ? changing : themeOf(scope, staleIfErrorMs))];
  return {
    kind,
    settings: {
      memory,
      protection: {
        timeoutMs,
        maxAttempts: random.pick([1, 2] as const),
        maxInFlight: 100,
        maxQueued: 100,
        breaker: chance(random, 0.5)
          ? { windowMs: 1_000, minimumCalls: 5, failureRatio: 0.5, pauseMs: 100, maxPauseMs: 1_000 }
          : undefined,
      },
      signOutTimeoutMs: 300,
    },
    hasStore: isCalm || chance(random, 0.95),
    storeTimeoutMs: random.pick([10, 20, 40] as const),
    features: [...(changes?.features ?? [])],
    hosts,
    limits: changes?.limits,
    record: changes?.record ?? SAME_NAMES,
    storeClockMs: EPOCH_MS + random.between(-5_000, 5_000),
    sessions,
    service,
    network: networkOf(random, kind),
    lies,
    steps,
    cacheForMs: isCalm ? undefined : random.pick([undefined, undefined, undefined, 0, Math.floor(ttlMs / 3)]),
    isServiceWell:
      service.mostMs <= timeoutMs / 3 &&
      service.failing === 0 &&
      service.hanging === 0 &&
      !steps.some((step) => ['serviceIs', 'blockLoop'].includes(step.do)),
  };
}

function serviceOf(random: SeededRandom, timeoutMs: number, isCalm: boolean): ServiceHealth {
  const leastMs = random.pick([1, 5, 0.1 * timeoutMs] as const);
  if (isCalm) return { leastMs, mostMs: leastMs * 1.5, failing: 0, hanging: 0 };
  const isWell = chance(random, 0.6);
  const mostMs = leastMs + random.pick([2, 20, (isWell ? 0.2 : 1.2) * timeoutMs] as const);
  return {
    leastMs,
    mostMs,
    failing: isWell ? 0 : random.pick([0, 0.1, 0.4] as const),
    hanging: isWell ? 0 : random.pick([0, 0.1] as const),
  };
}

function networkOf(random: SeededRandom, kind: Plan['kind']): NetworkHealth {
  const isRough = kind === 'rough' || (kind === 'lying' && chance(random, 0.5));
  const some = (...parts: [number, ...number[]]): number => (isRough ? random.pick([0, 0, ...parts]) : 0);
  return {
    ...CLEAN,
    mostMs: kind === 'calm' ? 1 : random.pick([1, 3, 12] as const),
    slow: some(0.02, 0.2),
    lostRequests: some(0.02, 0.2),
    lostReplies: some(0.02, 0.2),
    refused: some(0.05, 0.3),
    repeated: some(0.05, 0.2),
    lostMessages: some(0.1, 0.5),
    repeatedMessages: some(0.1, 0.5),
    isOrdered: !isRough || chance(random, 0.5),
  };
}

function wallOffsetOf(random: SeededRandom): number {
  return random.pick([0, 0, 0, 1, 1, 30]) === 0
    ? 0
    : random.pick([-1e3, 500, -600_000, 600_000, 3_000] as const) * random.next();
}

/** Every instance checks one session, at nearly the same time, and then occasionally. */
function calmSteps({ random, hosts, spanMs }: Scope): Step[] {
  const check = (atMs: number, host: number): Step => ({
    atMs,
    do: 'check',
    host,
    session: 0,
    hasWrongIv: false,
    maxAgeMs: Infinity,
  });
  const first = Array.from({ length: hosts * 2 }, (_, index) =>
    check(20 + random.between(0, 5), index % hosts),
  );
  const later = Array.from({ length: wholeBetween(random, 0, 8) }, () =>
    check(random.between(20, spanMs), wholeBetween(random, 0, hosts - 1)),
  );
  return [...first, ...later];
}

/** Steps come in groups, so that they overlap. */
function stepsOf(scope: Scope): Step[] {
  const { random, spanMs, service } = scope;
  const groups = Array.from({ length: wholeBetween(random, 1, 4) }, () => random.between(10, spanMs));
  const width = random.pick([2, 10, service.mostMs + 5, 100] as const);
  const session = wholeBetween(random, 0, scope.sessions - 1);
  return Array.from({ length: wholeBetween(random, 4, 26) }, () => {
    const atMs = (random.pick(groups) ?? 10) + random.between(0, width);
    return {
      atMs,
      ...actionOf(scope, chance(random, 0.7) ? session : wholeBetween(random, 0, scope.sessions - 1)),
    } as Step;
  });
}

/** Combinations of steps that are too rare by chance. */
function themeOf(scope: Scope, staleIfErrorMs: number): Step[] {
  const { random, hosts, spanMs, ttlMs, sessions } = scope;
  if (!chance(random, 0.5)) return [];
  const [atMs, host, other] = [
    random.between(10, spanMs),
    wholeBetween(random, 0, hosts - 1),
    wholeBetween(random, 0, hosts - 1),
  ];
  const session = wholeBetween(random, 0, sessions - 1);
  const checks = (fromMs: number, toMs: number): Step[] =>
    Array.from({ length: hosts + 1 }, (_, index) => ({
      atMs: random.between(fromMs, toMs),
      do: 'check',
      host: index % hosts,
      session,
      hasWrongIv: false,
      maxAgeMs: Infinity,
    }));
  const end: Step = {
    atMs: atMs + 50,
    do: random.pick(['signOut', 'signOut', 'forgetUser', 'forget'] as const),
    host,
    session,
  };
  const later = checks(atMs + 60, atMs + ttlMs + 60);
  if (staleIfErrorMs > 0) {
    const health = { ...scope.service, failing: 1, hanging: 0 };
    const outage: Step = { atMs: atMs + ttlMs / 2, do: 'serviceIs', health, forMs: 2 * ttlMs };
    const ended: Step = { atMs: atMs + random.between(20, 1.4 * ttlMs), do: 'forgetUser', host, session };
    return [...checks(atMs, atMs + 5), outage, ended, ...checks(atMs + ttlMs, atMs + ttlMs + staleIfErrorMs)];
  }
  const disturbances: readonly [Step, ...Step[]] = [
    { atMs: atMs + 45, do: 'interrupt', host: other, noticedMs: 5, downMs: random.between(10, ttlMs) },
    {
      atMs: atMs + 45,
      do: 'storeIs',
      host,
      state: random.pick(['hangs', 'refuses'] as const),
      forMs: random.between(20, ttlMs),
      interrupts: chance(random, 0.5),
    },
    { atMs: atMs + 20, do: 'signIn', host, session },
  ];
  return [...checks(atMs, atMs + 40), random.pick(disturbances), end, ...later];
}

function actionOf(scope: Scope, session: number): object {
  const { random, hosts, kind } = scope;
  const host = wholeBetween(random, 0, hosts - 1);
  const roll = random.next();
  if (roll < 0.55) return checkOf(scope, host, session);
  if (roll < 0.63) return { do: 'signOut', host, session };
  if (roll < 0.67) return { do: 'forget', host, session };
  if (roll < 0.72) return { do: 'forgetUser', host, session };
  if (roll < 0.76) return { do: 'forgetAll', host };
  if (roll < 0.8) return { do: 'signIn', host, session };
  if (roll < 0.84) return { do: 'revoke', session };
  if (roll < 0.86) return { do: random.pick(['block', 'unblock'] as const), session };
  return kind === 'ordinary' && roll < 0.93 ? checkOf(scope, host, session) : disturbanceOf(scope, host);
}

function checkOf({ random, ttlMs, service }: Scope, host: number, session: number): object {
  const maxAgeMs = chance(random, 0.85) ? Infinity : random.pick([0, 0, 0, Math.floor(ttlMs / 3)] as const);
  const again = chance(random, 0.1)
    ? {
        afterMs: random.between(0, random.pick([1, service.mostMs, ttlMs] as const)),
        maxAgeMs: random.pick([Infinity, 0] as const),
      }
    : undefined;
  return { do: 'check', host, session, hasWrongIv: chance(random, 0.03), maxAgeMs, ...(again && { again }) };
}

function disturbanceOf({ random, kind, timeoutMs, ttlMs, service }: Scope, host: number): object {
  const forMs = random.pick([20, 200, ttlMs] as const) * (0.5 + random.next());
  const isMild = kind === 'ordinary';
  switch (
    random.pick([
      'interrupt',
      'interrupt',
      'serviceIs',
      'wallJump',
      'crash',
      'storeIs',
      'storeIs',
      'blockLoop',
      'storeFull',
      'lies',
    ] as const)
  ) {
    case 'interrupt':
      return { do: 'interrupt', host, noticedMs: random.between(0, 2 * forMs), downMs: forMs };
    case 'serviceIs':
      return { do: 'serviceIs', forMs, health: random.pick(troubles(service, timeoutMs)) };
    case 'wallJump':
      return kind === 'lying'
        ? { do: 'forge' }
        : { do: 'wallJump', host, byMs: random.pick([-5_000, -700_000, 2_000, 700_000] as const) };
    case 'crash':
      return { do: 'crash', host };
    case 'storeIs':
      return {
        do: 'storeIs',
        host: chance(random, 0.4) ? 'all' : host,
        state: random.pick(['hangs', 'refuses'] as const),
        forMs,
        interrupts: chance(random, 0.5),
      };
    case 'blockLoop':
      return isMild
        ? { do: 'interrupt', host, noticedMs: 0, downMs: 5 }
        : { do: 'blockLoop', host, forMs: Math.min(forMs, 300) };
    case 'storeFull':
      return { do: 'storeFull', forMs };
    case 'lies':
      return {
        do: kind === 'lying' ? random.pick(['lose', 'forge'] as const) : 'interrupt',
        host,
        noticedMs: 1,
        downMs: 30,
      };
  }
}

function troubles(
  { leastMs, mostMs }: ServiceHealth,
  timeoutMs: number,
): readonly [ServiceHealth, ...ServiceHealth[]] {
  return [
    { leastMs, mostMs, failing: 1, hanging: 0 },
    { leastMs, mostMs, failing: 0, hanging: 1 },
    { leastMs: timeoutMs / 2, mostMs: 1.5 * timeoutMs, failing: 0, hanging: 0 },
    { leastMs, mostMs, failing: 0.5, hanging: 0.2 },
  ];
}
