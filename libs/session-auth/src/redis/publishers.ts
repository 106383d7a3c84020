import type { Cluster, Redis } from 'ioredis';
import { isCluster, isConnected } from './commands.js';

const ATTEMPTS = 3;

/** The items in a random order. */
export function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

/** Names a node: a Cluster's client may replace the object. */
export function addressOf({ options: { host = '', port = 0 } }: Redis): string {
  return `${host}:${port}`;
}

/**
 * The clients that show whether a subscriber receives what is published, each for one attempt: in a Cluster other nodes than its own,
 * because a node that left the cluster still delivers what is published on it. Of a single server, twice the caller's client.
 */
export function publishersFor(redis: Redis | Cluster, subscriber: Redis): Redis[] {
  if (!isCluster(redis)) return redis.status === 'ready' ? [redis, redis] : [];
  const others = redis.nodes('master').filter((node) => isConnected(node) && addressOf(node) !== addressOf(subscriber));
  return shuffled(others).slice(0, ATTEMPTS);
}
