import type { CacheSettings } from '../../libs/session-auth/src/verifier/session-cache.js';
import type { SeededRandom } from '../support/seeded-random.js';
import { SECRETS } from './instance.js';
import type { Limits } from './limits.js';
import { chance, wholeBetween } from './random.js';
import type { Scope, Step } from './steps.js';

/** A process of the fleet, as planned. */
export interface PlannedHost {
  readonly uptimeMs: number;
  readonly wallOffsetMs: number;
  readonly startsMs: number;
  /** Milliseconds from its start until its client of the store is connected. */
  readonly connectsMs: number;
  readonly memory: CacheSettings;
  readonly secrets: readonly [string, ...string[]];
  readonly isForeign: boolean;
}

export interface RecordNames {
  readonly nameOf: (username: string) => string;
}

export const SAME_NAMES: RecordNames = { nameOf: (username) => username };
/** Other names, as a class of user records may make. */
const OTHER_NAMES: RecordNames = { nameOf: (username) => username.toUpperCase() };

const FEATURES = [
  'limits',
  'clocks',
  'closes',
  'late',
  'lifetimes',
  'secrets',
  'names',
  'foreign',
  'replays',
  'reissues',
] as const;
type Feature = (typeof FEATURES)[number];

/** How a fleet changes, and how its instances differ. */
export interface Changes {
  readonly features: ReadonlySet<Feature>;
  /** Whether there are more users and sessions than usual. */
  readonly isCrowded: boolean;
  readonly limits: Limits | undefined;
  readonly record: RecordNames;
}

const AN_HOUR_MS = 3_600_000;
const TEN_MINUTES_MS = 600_000;

/** Chooses one to three features: few, so that one does not hide the faults of another. */
export function changesOf(random: SeededRandom): Changes {
  const features = new Set(Array.from({ length: wholeBetween(random, 1, 3) }, () => random.pick(FEATURES)));
  // The age of a message is known by a clock that does not step.
  if (features.has('replays')) features.delete('clocks');
  const size = (): number => wholeBetween(random, 1, 4);
  return {
    features,
    isCrowded: features.has('limits'),
    limits: features.has('limits')
      ? { MAX_USERS: size(), MAX_TOKENS: size(), MAX_PENDING: 2 * size() }
      : undefined,
    record: features.has('names') ? OTHER_NAMES : SAME_NAMES,
  };
}

/** Settings of an instance of a fleet without differences. */
export function likeOthers(
  memory: CacheSettings,
): Pick<PlannedHost, 'startsMs' | 'connectsMs' | 'memory' | 'secrets' | 'isForeign'> {
  return { startsMs: 0, connectsMs: 0, memory, secrets: [SECRETS.current], isForeign: false };
}

type Secrets = readonly [string, ...string[]];
type Rotation = readonly [Secrets, ...Secrets[]];

/** Lets instances differ. */
export function differing(
  random: SeededRandom,
  hosts: readonly PlannedHost[],
  { features }: Changes,
  spanMs: number,
): PlannedHost[] {
  const { current, former, foreign } = SECRETS;
  const rotation: Rotation = random.pick<Rotation>([
    [[former], [current, former]],
    [[current, former], [current]],
    [[former, current], [former]],
    [
      [former, current],
      [current, former],
    ],
  ]);
  return hosts.map((host, index) => ({
    ...host,
    ...(features.has('limits') && {
      memory: { ...host.memory, maxEntries: random.pick([1, 3, 100, 100] as const) },
    }),
    ...(features.has('lifetimes') && { memory: anotherMemory(random, host.memory) }),
    ...(features.has('secrets') && { secrets: random.pick(rotation) }),
    ...(features.has('foreign') &&
      index > 0 &&
      index === hosts.length - 1 && { secrets: [foreign] as const, isForeign: true }),
    ...(features.has('late') && index > 0 && chance(random, 0.5) && { startsMs: random.between(0, spanMs) }),
    ...(features.has('late') &&
      chance(random, 0.7) && { connectsMs: random.between(1, random.pick([10, 300] as const)) }),
  }));
}

function anotherMemory(random: SeededRandom, memory: CacheSettings): CacheSettings {
  const ttlMs = random.pick([120, 400, 1_000, 3_000] as const);
  return { ...memory, ttlMs, refreshAheadMs: memory.refreshAheadMs > 0 ? Math.floor(ttlMs / 2) : 0 };
}

export function changingSteps(scope: Scope, { features }: Changes): Step[] {
  return [...features].flatMap((feature) => STEPS[feature](scope));
}

interface Subject {
  readonly atMs: number;
  readonly host: number;
  readonly session: number;
}

const STEPS: Readonly<Record<Feature, (scope: Scope) => Step[]>> = {
  limits: manyEnds,
  clocks: clockSteps,
  closes: closings,
  late: firstActs,
  lifetimes: laterStarts,
  secrets: someEnds,
  names: someEnds,
  foreign: someEnds,
  replays: (scope) => [...someEnds(scope), ...replays(scope)],
  reissues,
};

function subjectOf({ random, hosts, sessions, spanMs }: Scope): Subject {
  return {
    atMs: random.between(10, spanMs),
    host: wholeBetween(random, 0, hosts - 1),
    session: wholeBetween(random, 0, sessions - 1),
  };
}

function checkOn(atMs: number, host: number, session: number): Step {
  return { atMs, do: 'check', host, session, hasWrongIv: false, maxAgeMs: Infinity };
}

/** Each instance checks a session, at times of an interval. */
function checks({ random, hosts }: Scope, session: number, fromMs: number, toMs: number): Step[] {
  return Array.from({ length: hosts }, (_, host) => checkOn(random.between(fromMs, toMs), host, session));
}

function endOf({ random }: Scope, { atMs, host, session }: Subject): Step {
  const kind = random.pick(['signOut', 'forget', 'forgetUser', 'forgetAll'] as const);
  if (kind === 'forgetAll') return { atMs, do: kind, host };
  return { atMs, do: kind, host, session, byRecord: chance(random, 0.5) };
}

/** An end while the session is cached, and checks afterwards. */
function someEnds(scope: Scope): Step[] {
  const subject = subjectOf(scope);
  const { atMs, session } = subject;
  return [
    ...checks(scope, session, atMs - 10, atMs),
    endOf(scope, { ...subject, atMs: atMs + 40 }),
    ...checks(scope, session, atMs + 50, atMs + 60 + scope.ttlMs / 2),
  ];
}

type Kind = 'forgetUser' | 'signOut' | 'forget';
type Kinds = readonly [Kind, ...Kind[]];

/** More ends than the tables hold, in some histories while the store is away. */
function manyEnds(scope: Scope): Step[] {
  const { random, sessions, ttlMs } = scope;
  const { atMs, host } = subjectOf(scope);
  const all = Array.from({ length: sessions }, (_, session) => session);
  const kinds = random.pick<Kinds>([
    ['forgetUser'],
    ['signOut'],
    ['forget'],
    ['forgetUser', 'signOut', 'forget'],
  ]);
  const outage: Step = {
    atMs: atMs + 45,
    do: 'storeIs',
    host,
    state: 'refuses',
    forMs: random.between(50, 700),
    interrupts: false,
  };
  return [
    ...all.flatMap((session) => checks(scope, session, atMs, atMs + 30)),
    ...(chance(random, 0.5) ? [outage] : []),
    ...all.map((session): Step => ({
      atMs: atMs + 50 + random.between(0, 20),
      do: random.pick(kinds),
      host,
      session,
    })),
    ...all.flatMap((session) => checks(scope, session, atMs + 60, atMs + 100 + ttlMs / 2)),
  ];
}

/**
 * The clock of the store steps once, with those of the instances or without. Far, if it steps back: until it
 * has caught up, which it does in no history, an age is below zero; afterwards the age of an entry is
 * unknown.
 */
function clockSteps(scope: Scope): Step[] {
  const { random, ttlMs } = scope;
  const subject = subjectOf(scope);
  const { atMs, session } = subject;
  const byMs = random.pick([-10_000, -10_000, -AN_HOUR_MS, -AN_HOUR_MS, 1_000, AN_HOUR_MS] as const);
  return [
    ...checks(scope, session, atMs, atMs + 10),
    chance(random, 0.7)
      ? { atMs: atMs + random.between(20, 40), do: 'storeJump', byMs, takesHosts: chance(random, 0.7) }
      : {
          atMs: atMs + random.between(0, 40),
          do: 'suspend',
          host: subject.host,
          forMs: random.between(0.2, 1.5) * ttlMs,
        },
    ...(chance(random, 0.5) ? [endOf(scope, { ...subject, atMs: atMs + random.between(10, 80) })] : []),
    ...checks(scope, session, atMs + 40, atMs + 2 * ttlMs),
    ...checks(scope, session, atMs + ttlMs / 2, atMs + 2 * ttlMs),
  ];
}

/** An instance ends sessions, and closes at once. */
function closings(scope: Scope): Step[] {
  const { random, ttlMs } = scope;
  const subject = subjectOf(scope);
  const { atMs, session, host } = subject;
  const outage: Step = {
    atMs: atMs + 30,
    do: 'storeIs',
    host,
    state: random.pick(['hangs', 'refuses'] as const),
    forMs: random.between(20, 2_000),
    interrupts: false,
  };
  return [
    ...checks(scope, session, atMs, atMs + 20),
    ...(chance(random, 0.5) ? [outage] : []),
    endOf(scope, { ...subject, atMs: atMs + 40 }),
    {
      atMs: atMs + 40 + random.between(0, random.pick([1, 20, 300] as const)),
      do: 'close',
      host,
      restartsMs: chance(random, 0.5) ? random.between(1, 200) : undefined,
    },
    ...checks(scope, session, atMs + 60, atMs + 100 + ttlMs / 2),
  ];
}

/** An instance that has just started ends sessions, and perhaps closes. */
function firstActs(scope: Scope): Step[] {
  const { random, ttlMs } = scope;
  const subject = { ...subjectOf(scope), atMs: random.between(1, 200) };
  const { atMs, session, host } = subject;
  const closes: Step[] = chance(random, 0.5)
    ? [{ atMs: atMs + 30 + random.between(0, 100), do: 'close', host, restartsMs: undefined }]
    : [];
  return [
    ...checks(scope, session, atMs, atMs + 20),
    endOf(scope, { ...subject, atMs: atMs + 30 }),
    ...closes,
    ...checks(scope, session, atMs + 50, atMs + 100 + ttlMs / 2),
  ];
}

/** A session ends, and an instance starts after the shortest lifetime of the fleet and before the longest. */
function laterStarts(scope: Scope): Step[] {
  const { random, timeoutMs, hosts } = scope;
  const subject = subjectOf(scope);
  const { atMs, session } = subject;
  const other = wholeBetween(random, 0, hosts - 1);
  const laterMs = atMs + 200 + timeoutMs + random.between(0, 1_500);
  return [
    ...checks(scope, session, atMs, atMs + 30),
    endOf(scope, { ...subject, atMs: atMs + 40 }),
    { atMs: laterMs - 100, do: 'crash', host: other },
    ...checks(scope, session, laterMs, laterMs + 200),
  ];
}

/** Messages are sent again, long after, while the store is well: in doubt, a message counts. */
function replays({ kind, random, spanMs, hosts, sessions }: Scope): Step[] {
  if (kind !== 'ordinary') return [];
  const atMs = spanMs + TEN_MINUTES_MS + random.between(60_000, 120_000);
  const session = wholeBetween(random, 0, sessions - 1);
  return [
    ...Array.from({ length: hosts }, (_, host) => checkOn(atMs - 1_000, host, session)),
    { atMs, do: 'replay' },
    ...Array.from({ length: hosts }, (_, host) => checkOn(atMs + 1_000, host, session)),
  ];
}

/**
 * A sign-in issues a token again while, or after, it is signed out; in some histories while the store is
 * away.
 */
function reissues(scope: Scope): Step[] {
  const { random, ttlMs, service, hosts } = scope;
  const subject = subjectOf(scope);
  const { atMs, session, host } = subject;
  const signsInOn = chance(random, 0.5) ? host : wholeBetween(random, 0, hosts - 1);
  const outage: Step = {
    atMs: atMs + 25,
    do: 'storeIs',
    host,
    state: 'refuses',
    forMs: random.between(20, 400),
    interrupts: false,
  };
  const afterMs = random.pick([service.mostMs, 2 * service.mostMs + 20, 100] as const);
  return [
    ...checks(scope, session, atMs, atMs + 20),
    ...(chance(random, 0.4) ? [outage] : []),
    ...checks(scope, session, atMs + 25, atMs + 35),
    { atMs: atMs + 30, do: 'signOut', host, session },
    { atMs: atMs + 30 + random.between(-service.mostMs, afterMs), do: 'signIn', host: signsInOn, session },
    ...checks(scope, session, atMs + 35, atMs + 100 + ttlMs / 2),
  ];
}
