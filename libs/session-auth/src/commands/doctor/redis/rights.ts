import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { DEFAULTS } from '../../../module/settings/defaults.js';
import { reasonOf } from '../../../redis/probe.js';
import type { RedisSessionStore } from '../../../redis/redis-session-store.js';
import type { Examination } from '../examination.js';

/** Milliseconds after which the keys expire, if they could not be deleted. */
const TTL_MS = 10_000;
const KEY = 'trial';
const HOLDER = 'doctor';

/** The parts that the probes of the rights use. */
interface Place {
  readonly redis: Redis;
  readonly store: RedisSessionStore;
  readonly prefix: string;
}

/** Runs the commands of the library on a separate key, and reports those that Redis refuses. */
export async function examineRights({ findings }: Examination, place: Place): Promise<void> {
  const { refused, slowestMs } = await tryAll(stepsAt(place)).finally(() => deleteKeys(place));
  if (refused.length > 0)
    findings.fail('redis-rights', `Redis refuses: ${refused.join(', ')}. The rights are in the guide "Redis setups".`);
  else findings.ok('redis-rights', 'The user has the rights that the library needs.');
  const limit = DEFAULTS.store.timeoutMs;
  const text = `The slowest step of the shared cache took ${Math.ceil(slowestMs)} ms`;
  if (slowestMs <= limit) findings.ok('redis-latency', `${text}.`);
  else findings.warn('redis-latency', `${text}, more than the default timeoutMs of the store, ${limit} ms.`);
}

/** A step, and its purpose. */
type Step = readonly [what: string, step: () => Promise<unknown>];

function stepsAt({ redis, store }: Place): readonly Step[] {
  const lease = { id: randomUUID(), holder: HOLDER, ttlMs: TTL_MS, graceMs: TTL_MS };
  return [
    ['look-ups', () => store.get(KEY, lease)],
    ['releases of leases', () => store.releaseLease(KEY, lease.id)],
    ['writes', () => store.set(KEY, Buffer.from('trial'), TTL_MS)],
    ['look-ups', () => store.get(KEY)],
    ['deletions', () => store.delete(KEY)],
    ['tombstones', () => store.setTombstone(KEY, TTL_MS)],
    ['tombstones', () => store.clearTombstone(KEY)],
    ['heartbeats', () => store.keepAlive(HOLDER, TTL_MS)],
    ['revocations', () => store.setRevocation(KEY, TTL_MS)],
    ['revocations', () => store.getRevocations([KEY])],
    ['PING', () => redis.ping()],
  ];
}

async function deleteKeys({ redis, prefix }: Place): Promise<void> {
  await redis.del(...[KEY, `alive:${HOLDER}`, `revoked:${KEY}`].map((name) => `${prefix}:${name}`)).catch(() => undefined);
}

async function tryAll(steps: readonly Step[]): Promise<{ refused: string[]; slowestMs: number }> {
  const refused = new Set<string>();
  let slowestMs = 0;
  for (const [what, step] of steps) {
    const startedAt = performance.now();
    await step().catch((error: unknown) => refused.add(`${what} (${whyNot(error)})`));
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
  }
  return { refused: [...refused], slowestMs };
}

/** Returns the missing right. Of the reply of the server, only the name of a command is used. */
function whyNot(error: unknown): string {
  const { message = '' } = error as Partial<Error>;
  const command = /'([a-z]{2,20})(?:\|[a-z]{2,20})?'/i.exec(message)?.[1];
  if (/\bNOPERM\b/.test(message)) return command === undefined ? 'the keys session-auth:*' : `+${command.toLowerCase()}`;
  return reasonOf(error);
}
