import type { Redis } from 'ioredis';
import { redisClient, RedisServer } from './redis.js';
import { until } from './until.js';

const SLOTS = 16_384;
const SETTINGS = '--cluster-enabled yes --cluster-node-timeout 1000 --cluster-require-full-coverage no'.split(
  ' ',
);

/** One node of a cluster, and a client of it alone. */
interface Node {
  readonly server: RedisServer;
  readonly client: Redis;
}

/** A Redis Cluster of masters without replicas: a stopped node takes its part of the keys with it. */
export class RedisCluster {
  readonly #nodes: Node[] = [];

  static async start(count: number): Promise<RedisCluster> {
    const cluster = new RedisCluster();
    for (let index = 0; index < count; index += 1) {
      const server = await RedisServer.start(...SETTINGS);
      cluster.#nodes.push({ server, client: redisClient(server.port) });
    }
    await cluster.#join();
    return cluster;
  }

  /** Where the nodes are. */
  get places(): { host: string; port: number }[] {
    return this.#nodes.map(({ server }) => ({ host: '127.0.0.1', port: server.port }));
  }

  /** Returns how many clients are subscribed to a channel, on each node that is up. */
  async listeners(channel: string): Promise<number[]> {
    const answers = await Promise.all(this.#nodes.map(({ client }) => client.pubsub('NUMSUB', channel)));
    return answers.map(([, count]) => Number(count));
  }

  /** Removes a node from the cluster, which the node does not notice. */
  async forget(index: number): Promise<void> {
    const id = String(await this.#client(index).call('CLUSTER', 'MYID'));
    for (const { client } of this.#nodes)
      if (client !== this.#client(index)) await client.call('CLUSTER', 'FORGET', id);
  }

  /** Resets a node, so that it no longer knows the cluster, which expects it back. */
  async reset(index: number): Promise<void> {
    await this.#client(index).flushall();
    await this.#client(index).call('CLUSTER', 'RESET', 'HARD');
  }

  async publish(index: number, channel: string, message: string): Promise<void> {
    await this.#client(index).publish(channel, message);
  }

  /** Ends a node as a power cut does. */
  async kill(index: number): Promise<void> {
    const [node] = this.#nodes.splice(index, 1);
    node?.client.disconnect();
    await node?.server.close();
  }

  async close(): Promise<void> {
    while (this.#nodes.length > 0) await this.kill(0);
  }

  #client(index: number): Redis {
    const node = this.#nodes[index];
    if (!node) throw new Error(`There is no node ${index}`);
    return node.client;
  }

  async #join(): Promise<void> {
    const share = Math.ceil(SLOTS / this.#nodes.length);
    for (const [index, { client }] of this.#nodes.entries()) {
      await client.call('CLUSTER', 'ADDSLOTSRANGE', index * share, Math.min(SLOTS, (index + 1) * share) - 1);
      for (const { host, port } of this.places) await client.call('CLUSTER', 'MEET', host, port);
    }
    await until('the cluster is one', async () => {
      const states = await Promise.all(
        this.#nodes.map(async ({ client }) => String(await client.call('CLUSTER', 'INFO'))),
      );
      return states.every(
        (state) => state.includes('cluster_state:ok') && state.includes(`cluster_slots_ok:${SLOTS}`),
      );
    });
  }
}
