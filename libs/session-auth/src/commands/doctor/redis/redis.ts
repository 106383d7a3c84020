import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { reasonOf } from '../../../redis/probe.js';
import { RedisSessionStore } from '../../../redis/redis-session-store.js';
import type { DoctorSettings } from '../doctor-options.js';
import type { Examination } from '../examination.js';
import { examineMessages } from './messages.js';
import { examineRights } from './rights.js';
import { examineServer } from './server.js';

const NOT_INSTALLED = "The package ioredis is not installed here, so Redis was not examined: run 'npm install ioredis'.";

/** Keys and the channel are below the prefix of the library, so that its rights suffice, and apart from those of applications. */
const PREFIX = 'session-auth';

/** Examines the Redis of a shared cache, with keys and a channel of its own. Leaves no key behind. */
export async function examineRedis(examination: Examination, { url, password }: NonNullable<DoctorSettings['redis']>): Promise<void> {
  const { findings, secrets, settings } = examination;
  secrets.add(password);
  const ioredis = await import('ioredis').catch(() => undefined);
  if (!ioredis) {
    findings.unknown('redis', NOT_INSTALLED);
    return;
  }
  const redis = new ioredis.Redis({ ...addressOf(url), ...(password && { password }), ...limitsOf(settings.timeoutMs) });
  // The rejection of connect() does not contain the reason.
  let cause: unknown;
  redis.on('error', (error) => (cause ??= error));
  try {
    await redis.connect();
    findings.ok('redis', 'Redis accepts the connection.');
    await examineStore(examination, redis);
  } catch (error) {
    findings.fail('redis', `${reasonOf(cause ?? error)}.`);
  } finally {
    redis.disconnect();
  }
}

async function examineStore(examination: Examination, redis: Redis): Promise<void> {
  const prefix = `${PREFIX}:doctor-${randomUUID()}`;
  const store = new RedisSessionStore({ redis, prefix });
  await examineServer(examination, redis);
  await examineRights(examination, { redis, store, prefix });
  await examineMessages(examination, store);
}

function addressOf({ hostname, port, username, pathname, protocol }: URL): object {
  const db = Number(pathname.slice(1));
  return {
    host: hostname.replace(/^\[|\]$/g, '') || 'localhost',
    port: Number(port) || 6379,
    ...(username && { username: decodeURIComponent(username) }),
    ...(Number.isSafeInteger(db) && db > 0 && { db }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
}

function limitsOf(timeoutMs: number): object {
  // Without disconnectTimeout, the process would live on for two seconds after a connection that failed.
  const once = { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0, disconnectTimeout: 100 };
  return { ...once, connectTimeout: timeoutMs, commandTimeout: timeoutMs };
}
