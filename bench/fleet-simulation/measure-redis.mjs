// Measures the costs of Redis for the simulation, on a dedicated server, and writes redis.json. Requires
// redis-server and its tools.
import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { RedisProcess } from './redis-process.mjs';

/** Imports a source file whose imports are only sources and Node.js modules. */
async function importSource(path) {
  const entryPoints = [fileURLToPath(new URL(path, import.meta.url))];
  const { outputFiles } = await build({
    entryPoints,
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
  });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

const { GET, READ, SET, TOMBSTONE, VALUE } = await importSource(
  '../../libs/session-auth/src/redis/scripts.ts',
);
const { userJson, token } = await importSource('../users.ts');

const KEYS = 100_000;
/**
 * As long as the prefix and the name of a session: an HMAC of 32 bytes in base64url. redis-benchmark ends a
 * key with twelve digits.
 */
const KEY_START = 'session-auth:'.padEnd(13 + 43 - 12, 'x');
/** The keys of revocations: of all sessions, of a session, of a user. Usually none of them exists. */
const REVOKED_KEYS = ['all', 'revoked', 'user'].map(
  (kind) => `session-auth:revoked:${kind}.${'x'.repeat(43 - 12)}__rand_int__`,
);
const SEAL_BYTES = 29;
const sealed = (json) => 'x'.repeat(SEAL_BYTES + JSON.stringify(json).length);
/** Records are stored without the token. */
const RECORD = { ...JSON.parse(userJson(KEYS, token('user', KEYS))), auth_token: undefined };
const SESSION =
  VALUE + sealed({ confirmedAt: Date.now(), ttlMs: 60_000, hasToken: true, since: Date.now(), json: RECORD });
const MESSAGE = sealed({ kind: 'ended', token: 'x'.repeat(44), id: 'x'.repeat(16), at: Date.now() });
const LIFETIME_MS = 3_600_000;
/** Enough keys that few are drawn twice. */
const NEW_KEYS = 1_000_000_000;
const ROUNDS = 5;
const OPERATIONS = 100_000;
const SUBSCRIBERS = 1_000;
const CHANNEL = 'session-auth:messages';

const numbered = (index) => KEY_START + String(index).padStart(12, '0');

async function bytesPerKey(redis, value) {
  await redis.cli('FLUSHALL');
  const before = await redis.info('memory', 'used_memory');
  await redis.load(
    Array.from({ length: KEYS }, (_, index) => ['SET', numbered(index), value, 'PX', String(LIFETIME_MS)]),
  );
  if (Number(await redis.cli('DBSIZE')) !== KEYS) throw new Error('not every key was written');
  return Math.round(((await redis.info('memory', 'used_memory')) - before) / KEYS);
}

/**
 * Measures the processor time of an operation on the server, the median of several rounds, and the operations
 * per second of the best round: the load generator and other processes share the machine.
 */
async function operation(redis, command, range = KEYS) {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = await redis.processorSeconds();
    const began = performance.now();
    await redis.benchmark(OPERATIONS, command, { range });
    const seconds = (performance.now() - began) / 1_000;
    rounds.push({
      perSecond: OPERATIONS / seconds,
      microseconds: (((await redis.processorSeconds()) - before) * 1e6) / OPERATIONS,
    });
  }
  const costs = rounds.map(({ microseconds }) => microseconds).toSorted((left, right) => left - right);
  return {
    perSecond: Math.round(Math.max(...rounds.map(({ perSecond }) => perSecond))),
    processorMicroseconds: Number(costs[(ROUNDS - 1) / 2].toFixed(1)),
  };
}

async function operations(redis) {
  for (const { text } of [GET, READ, SET]) await redis.cli('SCRIPT', 'LOAD', text);
  const key = `${KEY_START}__rand_int__`;
  const getting = ['EVALSHA', GET.sha, '1', key];
  return {
    read: await operation(redis, getting),
    miss: await operation(redis, getting, NEW_KEYS),
    revocations: await operation(redis, ['EVALSHA', READ.sha, '3', ...REVOKED_KEYS], NEW_KEYS),
    revocation: await operation(redis, ['EVALSHA', READ.sha, '1', REVOKED_KEYS[1]], NEW_KEYS),
    write: await operation(redis, ['EVALSHA', SET.sha, '1', key, SESSION, String(LIFETIME_MS)]),
    end: await operation(redis, ['SET', key, TOMBSTONE, 'PX', String(LIFETIME_MS)]),
  };
}

async function publish(redis) {
  const receivers = await redis.subscribe(SUBSCRIBERS, CHANNEL);
  const messages = 1_000;
  const before = await redis.processorSeconds();
  await redis.benchmark(messages, ['PUBLISH', CHANNEL, MESSAGE], { connections: 1 });
  const bytes = await receivers.received(messages, MESSAGE);
  const microseconds = ((await redis.processorSeconds()) - before) * 1e6;
  const deliveries = messages * SUBSCRIBERS;
  return {
    bytes: Math.round(bytes / deliveries),
    processorMicroseconds: Number((microseconds / deliveries).toFixed(1)),
  };
}

const redis = await RedisProcess.start();
try {
  const figures = {
    redis: await redis.version(),
    machine: `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${cpus().length} cores`,
    session: {
      keyBytes: numbered(0).length,
      valueBytes: SESSION.length,
      bytes: await bytesPerKey(redis, SESSION),
    },
    mark: { bytes: await bytesPerKey(redis, TOMBSTONE) },
  };
  await bytesPerKey(redis, SESSION);
  Object.assign(figures, { operations: await operations(redis), delivery: await publish(redis) });
  await writeFile(new URL('redis.json', import.meta.url), `${JSON.stringify(figures, null, 2)}\n`);
  console.log(figures);
} finally {
  redis.stop();
}
