import type { Cluster, Redis } from 'ioredis';
import type { Script } from './scripts.js';

type Argument = string | number | Buffer;

const CONNECTED: ReadonlySet<string> = new Set(['ready', 'wait']);

/**
 * Returns whether a client sends commands now, instead of queueing them until it is connected, without a time
 * limit.
 */
export function isConnected(redis: Redis | Cluster): boolean {
  return CONNECTED.has(redis.status);
}

export function isCluster(redis: Redis | Cluster): redis is Cluster {
  return 'nodes' in redis;
}

export function send(redis: Redis | Cluster, command: string, ...args: Argument[]): Promise<unknown> {
  return redis.options.enableAutoPipelining
    ? sendAlone(redis, command, args)
    : redis.callBuffer(command, ...args);
}

/**
 * Sends a command in its own pipeline. With auto-pipelining, ioredis crashes on `callBuffer`, and ioredis 5
 * sends scripts in a Cluster to the wrong node. Used only with auto-pipelining, because a pipeline takes the
 * client twice as long.
 */
async function sendAlone(
  redis: Redis | Cluster,
  command: string,
  args: readonly Argument[],
): Promise<unknown> {
  const pipeline = redis.pipeline().callBuffer(command, ...args);
  const [[error, reply] = [new Error('Redis is not connected')]] = (await pipeline.exec()) ?? [];
  if (error) throw error;
  return reply;
}

export async function run(
  redis: Redis | Cluster,
  script: Script,
  keys: readonly string[],
  ...args: Argument[]
): Promise<unknown> {
  try {
    return await send(redis, 'evalsha', script.sha, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return send(redis, 'eval', script.text, keys.length, ...keys, ...args);
  }
}

/**
 * Returns the time of each master of a Cluster, as promises that never reject: 0 for a clock that can't be
 * read. Empty for a single server.
 */
export function clocksMs(redis: Redis | Cluster): Promise<number>[] {
  return isCluster(redis) ? redis.nodes('master').map((node) => clockMs(node)) : [];
}

async function clockMs(node: Redis): Promise<number> {
  try {
    const [seconds, microseconds] = (await send(node, 'time')) as [Buffer, Buffer];
    return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
  } catch {
    return 0;
  }
}
