import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { DEFAULTS } from '../../../session-auth/src/module/settings/option-table.js';
import { reasonOf } from '../../../session-auth/src/redis/probe.js';
import { RedisSessionStore } from '../../../session-auth/src/redis/redis-session-store.js';
import type { DoctorSettings, Examination } from './examination.js';

/** Examines the Redis of a shared cache, with keys and a channel of its own. Leaves no key behind. */
export async function examineRedis(
  examination: Examination,
  { url, password }: NonNullable<DoctorSettings['redis']>,
): Promise<void> {
  const { findings, secrets, settings } = examination;
  secrets.add('the password', password);
  const address = Object.assign(new URL(url), { password: password ?? '' });
  const redis = new Redis(address.href, {
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    // Otherwise the process would live on for two seconds after a connection that failed.
    disconnectTimeout: 100,
    connectTimeout: settings.timeoutMs,
    commandTimeout: settings.timeoutMs,
  });
  // The rejection of connect() does not contain the reason.
  let cause: unknown;
  redis.on('error', (error) => (cause ??= error));
  try {
    await redis.connect();
    findings.ok('redis', 'Redis accepts the connection.');
    // Below the prefix of the library, so that its rights suffice, and apart from those of applications.
    const prefix = `session-auth:doctor-${randomUUID()}`;
    const store = new RedisSessionStore({ redis, prefix });
    await examineServer(examination, redis);
    await examineRights(examination, redis, store, prefix);
    await examineMessages(examination, store);
  } catch (error) {
    findings.fail('redis', `${reasonOf(cause ?? error)}.`);
  } finally {
    redis.disconnect();
  }
}

const OLDEST_MAJOR = 5;
/** Clocks that differ by more shorten the life of entries. */
const MAX_CLOCK_MS = 60_000;

async function examineServer(examination: Examination, redis: Redis): Promise<void> {
  const { findings } = examination;
  const info = await redis.info().catch(() => undefined);
  if (info === undefined)
    findings.unknown('redis-version', 'Version and memory of Redis: its user lacks the right to INFO.');
  else {
    describeVersion(examination, info);
    describeMemory(examination, info);
  }
  const before = Date.now();
  const time = await redis.time().catch(() => undefined);
  if (!time) return;
  const [seconds, microseconds] = time;
  const differenceMs = Math.round(
    Number(seconds) * 1_000 + Number(microseconds) / 1_000 - (before + Date.now()) / 2,
  );
  const text = `The clock of Redis differs from that of this machine by ${differenceMs} ms`;
  if (Math.abs(differenceMs) > MAX_CLOCK_MS) findings.warn('redis-clock', `${text}: synchronise both (NTP).`);
  else findings.ok('redis-clock', `${text}.`);
}

function describeVersion({ findings }: Examination, info: string): void {
  const version = /^(?:valkey|redis)_version:(\d{1,3}(?:\.\d{1,5}){0,2})/m.exec(info)?.[1];
  if (version === undefined)
    findings.unknown('redis-version', 'The version of Redis: INFO does not hold it.');
  else if (Number.parseInt(version) < OLDEST_MAJOR)
    findings.fail('redis-version', `Redis ${version} is too old: the library needs 5 or later.`);
  else findings.ok('redis-version', `Redis ${version}.`);
}

function describeMemory({ findings }: Examination, info: string): void {
  const policy = /^maxmemory_policy:([a-z-]{1,30})/m.exec(info)?.[1] ?? '';
  const limit = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? '0');
  const text = `maxmemory-policy is ${policy}`;
  if (limit === 0) findings.ok('redis-memory', `${text}, and maxmemory is not limited.`);
  else if (policy === 'noeviction')
    findings.ok(
      'redis-memory',
      `${text}: a full Redis refuses writes, and the session service is called instead.`,
    );
  else
    findings.warn(
      'redis-memory',
      `${text}: a full Redis may evict the tombstone of a session that was signed out. Use noeviction, and watch the memory.`,
    );
}

const TTL_MS = 10_000;
const KEY = 'trial';

async function examineRights(
  { findings }: Examination,
  redis: Redis,
  store: RedisSessionStore,
  prefix: string,
): Promise<void> {
  const steps: readonly (readonly [what: string, step: () => Promise<unknown>])[] = [
    ['writes', () => store.set(KEY, Buffer.from('trial'), TTL_MS)],
    ['look-ups', () => store.get(KEY)],
    ['deletions', () => store.delete(KEY)],
    ['tombstones', () => store.setTombstone(KEY, TTL_MS)],
    ['tombstones', () => store.clearTombstone(KEY)],
    ['revocations', () => store.setRevocation(KEY, TTL_MS)],
    ['revocations', () => store.getRevocations([KEY])],
    ['PING', () => redis.ping()],
  ];
  const refused = new Set<string>();
  let slowestMs = 0;
  for (const [what, step] of steps) {
    const startedAt = performance.now();
    await step().catch((error: unknown) => refused.add(`${what} (${whyNot(error)})`));
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
  }
  const keys = [KEY, `revoked:${KEY}`].map((name) => `${prefix}:${name}`);
  await redis.del(...keys).catch(() => undefined);
  if (refused.size > 0)
    findings.fail(
      'redis-rights',
      `Redis refuses: ${[...refused].join(', ')}. The rights are in the guide "Redis setups".`,
    );
  else findings.ok('redis-rights', 'The user has the rights that the library needs.');
  const limit = DEFAULTS.store.timeoutMs;
  const text = `The slowest step of the shared cache took ${Math.ceil(slowestMs)} ms`;
  if (slowestMs <= limit) findings.ok('redis-latency', `${text}.`);
  else findings.warn('redis-latency', `${text}, more than the default timeoutMs of the store, ${limit} ms.`);
}

/** Returns the missing right. Of the reply of the server, only the name of a command is used. */
function whyNot(error: unknown): string {
  const { message = '' } = error as Partial<Error>;
  const command = /'([a-z]{2,20})(?:\|[a-z]{2,20})?'/i.exec(message)?.[1];
  if (/\bNOPERM\b/.test(message))
    return command === undefined ? 'the keys session-auth:*' : `+${command.toLowerCase()}`;
  return reasonOf(error);
}

const MAX_WAIT_MS = 5_000;

async function examineMessages({ findings, settings }: Examination, store: RedisSessionStore): Promise<void> {
  const id = randomUUID();
  let settle: (problem?: string) => void = () => undefined;
  const outcome = new Promise<string | undefined>((resolve) => (settle = resolve));
  const waitMs = Math.min(settings.timeoutMs, MAX_WAIT_MS);
  setTimeout(settle, waitMs, 'A published message does not arrive').unref();
  const stop = store.subscribe({
    message: (bytes) => {
      if (Buffer.from(bytes).toString() === id) settle();
    },
    subscribed: () =>
      void store
        .publish(Buffer.from(id))
        .catch(() => settle('Redis refuses to publish: grant +publish and the channels')),
    interrupted: settle,
  });
  const problem = await outcome;
  await stop();
  if (problem === undefined)
    findings.ok('redis-messages', 'A published message arrives: a sign-out reaches every instance.');
  else
    findings.fail(
      'redis-messages',
      `${problem}. Without messages, a sign-out reaches other instances when their entries expire.`,
    );
}
