import type { Redis } from 'ioredis';
import type { Examination } from '../examination.js';

const OLDEST_MAJOR = 5;
/** Clocks that differ by more shorten the life of entries. */
const MAX_CLOCK_MS = 60_000;

/** Reports the version of the server, its eviction policy, and the offset of its clock. */
export async function examineServer({ findings }: Examination, redis: Redis): Promise<void> {
  const info = await redis.info().catch(() => undefined);
  if (info === undefined) findings.unknown('redis-version', 'Version and memory of Redis: its user lacks the right to INFO.');
  else {
    describeVersion(findings, info);
    describeMemory(findings, info);
  }
  const before = Date.now();
  const time = await redis.time().catch(() => undefined);
  if (!time) return;
  const [seconds, microseconds] = time;
  const differenceMs = Math.round(Number(seconds) * 1_000 + Number(microseconds) / 1_000 - (before + Date.now()) / 2);
  const text = `The clock of Redis differs from that of this machine by ${differenceMs} ms`;
  if (Math.abs(differenceMs) > MAX_CLOCK_MS) findings.warn('redis-clock', `${text}: synchronise both (NTP).`);
  else findings.ok('redis-clock', `${text}.`);
}

type Findings = Examination['findings'];

function describeVersion(findings: Findings, info: string): void {
  const version = /^(?:valkey|redis)_version:(\d{1,3}(?:\.\d{1,5}){0,2})/m.exec(info)?.[1];
  if (version === undefined) findings.unknown('redis-version', 'The version of Redis: INFO does not hold it.');
  else if (Number.parseInt(version) < OLDEST_MAJOR)
    findings.fail('redis-version', `Redis ${version} is too old: the library needs 5 or later.`);
  else findings.ok('redis-version', `Redis ${version}.`);
}

function describeMemory(findings: Findings, info: string): void {
  const policy = /^maxmemory_policy:([a-z-]{1,30})/m.exec(info)?.[1] ?? '';
  const limit = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? '0');
  const text = `maxmemory-policy is ${policy}`;
  if (limit === 0) findings.ok('redis-memory', `${text}, and maxmemory is not limited.`);
  else if (policy === 'noeviction')
    findings.ok('redis-memory', `${text}: a full Redis refuses writes, and the session service is called instead.`);
  else
    findings.warn(
      'redis-memory',
      `${text}: a full Redis may evict the tombstone of a session that was signed out. Use noeviction, and watch the memory.`,
    );
}
