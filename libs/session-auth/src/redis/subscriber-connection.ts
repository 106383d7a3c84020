import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster, Redis } from 'ioredis';
import { isCluster, isConnected, send } from './commands.js';
import type { StoreSubscriber } from '../contract/session-store.js';
import { Interruption, Probe, reasonOf, withTimeout } from './probe.js';

const HEARTBEAT_MS = 1_000;
const MAX_HEARTBEAT_MS = 1_000;
/** Milliseconds for connecting and subscribing: a server may accept a connection and never answer. */
export const CONNECT_TIMEOUT_MS = 2_000;
const MAX_DISCONNECT_MS = 1_000;

const CONNECTION_OPTIONS = {
  lazyConnect: true,
  autoResubscribe: false,
  // Functions of the application: one that throws would end the process.
  reconnectOnError: null,
  retryStrategy: () => null,
  sentinelRetryStrategy: () => null,
  enableOfflineQueue: true,
  connectTimeout: CONNECT_TIMEOUT_MS,
  // The client then destroys its socket, regardless of the server.
  disconnectTimeout: 250,
  maxRetriesPerRequest: 0,
} as const;

/** One subscribed connection, from its start to its end. */
export class SubscriberConnection {
  readonly #redis: Redis | Cluster;
  readonly #server: Redis;
  readonly #client: Redis;
  readonly #channel: string;
  readonly #subscriber: StoreSubscriber;
  readonly #probe: Probe;
  readonly #ended = new AbortController();
  #error: unknown;
  isSubscribed = false;

  /** `server`: the client of the single server, or of one node of the Cluster. */
  constructor(redis: Redis | Cluster, server: Redis, channel: string, subscriber: StoreSubscriber) {
    const client = server.duplicate(CONNECTION_OPTIONS);
    this.#redis = redis;
    this.#server = server;
    this.#client = client;
    this.#channel = channel;
    this.#subscriber = subscriber;
    this.#probe = new Probe(`${channel}:${randomUUID()}`, this.#ended.signal);
    client.on('error', (error) => (this.#error ??= error));
    client.once('end', () => this.#ended.abort());
    client.on('messageBuffer', (from: Buffer, message: Buffer) => this.#receive(from, message));
  }

  /** Runs until the connection ends, or `stop` is aborted. Resolves with the reason. Never rejects. */
  async run(stop: AbortSignal): Promise<string> {
    const onStop = (): void => this.#close();
    stop.addEventListener('abort', onStop);
    if (stop.aborted) onStop();
    try {
      await withTimeout(this.#subscribe(), CONNECT_TIMEOUT_MS, this.#ended.signal);
      // The client may still list a node that has left the cluster.
      if (isCluster(this.#redis)) await this.#expectProbe();
      this.#error = undefined;
      this.isSubscribed = true;
      this.#subscriber.subscribed();
      for (;;) await this.#heartbeat();
    } catch (error) {
      this.#error ??= this.#ended.signal.aborted ? undefined : error;
    } finally {
      stop.removeEventListener('abort', onStop);
    }
    await this.#disconnect();
    return reasonOf(this.#error);
  }

  async #subscribe(): Promise<void> {
    await this.#client.connect();
    await this.#client.subscribe(this.#channel, this.#probe.channel);
  }

  #receive(from: Buffer, message: Buffer): void {
    if (from.equals(this.#probe.channelBytes)) this.#probe.receive(message);
    else if (this.isSubscribed) this.#subscriber.message(message);
  }

  /** Detects a connection that is dead, but has not ended. */
  async #heartbeat(): Promise<void> {
    await delay(HEARTBEAT_MS, undefined, { signal: this.#ended.signal, ref: false });
    // An error reply, such as for a user without the right to PING, also shows that the connection works.
    const answer = send(this.#client, 'ping').catch(() => undefined);
    await withTimeout(answer, MAX_HEARTBEAT_MS, this.#ended.signal);
    await this.#expectProbe();
  }

  async #expectProbe(): Promise<void> {
    if (await this.#probe.arrives(publishersFor(this.#redis, this.#server))) return;
    throw new Interruption('Redis does not deliver published messages: the node may have left the cluster');
  }

  /**
   * A socket that is closed during a TLS handshake which fails can emit two errors. ioredis handles one: the
   * other would end the process.
   */
  #close(): void {
    const { stream } = this.#client as Partial<Pick<Redis, 'stream'>>;
    stream?.on('error', () => undefined);
    this.#client.disconnect();
  }

  async #disconnect(): Promise<void> {
    this.#close();
    if (this.#client.status === 'end') return;
    const { signal } = this.#ended;
    await delay(MAX_DISCONNECT_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

const ATTEMPTS = 3;

export function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

/** Returns the address of a node. Identifies the node, because a Cluster client may replace its object. */
export function addressOf({ options: { host = '', port = 0 } }: Redis): string {
  return `${host}:${port}`;
}

/**
 * Returns the clients that publish probes for a subscriber, one attempt each. In a Cluster, they are of other
 * nodes than the subscriber's, because a node that has left the cluster still delivers messages that are
 * published on it. For a single server, the application's client, twice.
 */
export function publishersFor(redis: Redis | Cluster, subscriber: Redis): Redis[] {
  if (!isCluster(redis)) return redis.status === 'ready' ? [redis, redis] : [];
  const others = redis
    .nodes('master')
    .filter((node) => isConnected(node) && addressOf(node) !== addressOf(subscriber));
  return shuffled(others).slice(0, ATTEMPTS);
}
