import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster, Redis } from 'ioredis';
import type { StoreSubscriber } from '../contract/session-store.js';
import { isCluster } from './commands.js';
import { reasonOf } from './probe.js';
import { addressOf, CONNECT_TIMEOUT_MS, shuffled, SubscriberConnection } from './subscriber-connection.js';

const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 2_000;
const DISCOVERY_POLL_MS = 20;

/**
 * Keeps a channel subscribed on a dedicated connection: to the single server, or to any node of the Cluster.
 */
export class Subscription {
  readonly #redis: Redis | Cluster;
  readonly #channel: string;
  readonly #subscriber: StoreSubscriber;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #pauseMs = FIRST_PAUSE_MS;
  /** Address of the node of the last connection. */
  #lastNode = '';

  constructor(redis: Redis | Cluster, channel: string, subscriber: StoreSubscriber) {
    this.#redis = redis;
    this.#channel = channel;
    this.#subscriber = subscriber;
    // Rejects only because of `stop`.
    this.#running = this.#run().catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (;;) {
      const reason = await this.#connectOnce().catch(reasonOf);
      this.#stop.signal.throwIfAborted();
      this.#subscriber.interrupted(reason);
      await this.#pause(this.#pauseMs);
      this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
    }
  }

  async #connectOnce(): Promise<string> {
    const server = isCluster(this.#redis) ? await this.#discoveredNode(this.#redis) : this.#redis;
    if (!server) return 'The Redis Cluster is not connected';
    const connection = new SubscriberConnection(this.#redis, server, this.#channel, this.#subscriber);
    const reason = await connection.run(this.#stop.signal);
    if (connection.isSubscribed) this.#pauseMs = FIRST_PAUSE_MS;
    return reason;
  }

  /**
   * Waits for the discovery of the cluster. Before it, the client has only its configured nodes, which are
   * the same on all instances.
   */
  async #discoveredNode(cluster: Cluster): Promise<Redis | undefined> {
    if (cluster.status === 'wait') cluster.connect().catch(() => undefined);
    for (let waitedMs = 0; cluster.status !== 'ready'; waitedMs += DISCOVERY_POLL_MS) {
      if (waitedMs >= CONNECT_TIMEOUT_MS) return undefined;
      await this.#pause(DISCOVERY_POLL_MS);
    }
    const nodes = shuffled(cluster.nodes('all'));
    const node = nodes.find((one) => addressOf(one) !== this.#lastNode) ?? nodes[0];
    this.#lastNode = node ? addressOf(node) : '';
    return node;
  }

  #pause(ms: number): Promise<void> {
    return delay(ms, undefined, { signal: this.#stop.signal, ref: false });
  }
}
