import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster, Redis } from 'ioredis';
import { isCluster, isConnected, send } from './commands.js';
import { bounded } from './entries.js';
import { Deaf, Probe, reasonOf } from './probe.js';

const HEARTBEAT_MS = 1_000;
const MAX_HEARTBEAT_MS = 1_000;
/** A server may take a connection and answer nothing. */
export const CONNECT_TIMEOUT_MS = 2_000;
/** Until a connection that is given up is dropped, whatever the other side does. */
export const DISCONNECT_TIMEOUT_MS = 250;
const MAX_END_MS = 1_000;

/** What one connection reports to. */
export interface ConnectionEvents {
  /** Whether the connection is to a node of a Cluster. */
  readonly isNode: boolean;
  subscribed(): void;
  message(bytes: Buffer): void;
  /** Clients that publish a probe each. None if none can. */
  publishers(): Redis[];
}

/** One connection that is subscribed, from its start to its end. */
export class SubscriberConnection {
  readonly #client: Redis;
  readonly #channel: string;
  readonly #events: ConnectionEvents;
  readonly #probe: Probe;
  readonly #ended = new AbortController();
  #error: unknown;
  #isSubscribed = false;

  /** Takes a client that is not connected yet. */
  constructor(client: Redis, channel: string, events: ConnectionEvents) {
    this.#client = client;
    this.#channel = channel;
    this.#events = events;
    this.#probe = new Probe(`${channel}:${randomUUID()}`, this.#ended.signal);
    client.on('error', (error) => (this.#error ??= error));
    client.once('end', () => this.#ended.abort());
    client.on('messageBuffer', (from: Buffer, message: Buffer) => this.#receive(from, message));
  }

  /** Runs until the connection ends, or `stop` is aborted. Returns the reason, and never rejects. */
  async run(stop: AbortSignal): Promise<string> {
    const onStop = (): void => this.#client.disconnect();
    stop.addEventListener('abort', onStop);
    if (stop.aborted) onStop();
    try {
      await bounded(this.#subscribe(), CONNECT_TIMEOUT_MS, this.#ended.signal);
      // The client may list a node that left the cluster.
      if (this.#events.isNode) await this.#expectProbe();
      this.#error = undefined;
      this.#isSubscribed = true;
      this.#events.subscribed();
      for (;;) await this.#beat();
    } catch (error) {
      this.#error ??= this.#ended.signal.aborted ? undefined : error;
    } finally {
      stop.removeEventListener('abort', onStop);
    }
    await this.#end();
    return reasonOf(this.#error);
  }

  async #subscribe(): Promise<void> {
    await this.#client.connect();
    await this.#client.subscribe(this.#channel, this.#probe.channel);
  }

  #receive(from: Buffer, message: Buffer): void {
    if (from.equals(this.#probe.channelBytes)) this.#probe.receive(message);
    else if (this.#isSubscribed) this.#events.message(message);
  }

  /** A connection may be dead and not know it. */
  async #beat(): Promise<void> {
    await delay(HEARTBEAT_MS, undefined, { signal: this.#ended.signal, ref: false });
    // A user without the right to PING gets an answer too.
    const answer = send(this.#client, 'ping').catch(() => undefined);
    await bounded(answer, MAX_HEARTBEAT_MS, this.#ended.signal);
    await this.#expectProbe();
  }

  async #expectProbe(): Promise<void> {
    if (!(await this.#probe.arrives(this.#events.publishers()))) throw new Deaf();
  }

  async #end(): Promise<void> {
    this.#client.disconnect();
    if (this.#client.status === 'end') return;
    const never = new Promise<never>(() => undefined);
    await bounded(never, MAX_END_MS, this.#ended.signal).catch(() => undefined);
  }
}

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
