import { Child } from './child.js';
import { Caller } from './caller.js';
import type { InstanceApi } from './instance.process.js';
import type { Journal } from './journal.js';
import type { NetworkApi } from './network.process.js';
import { RedisServer } from './redis-server.js';
import type { SessionServiceApi } from './session-service.process.js';
import { INSTANCES, type Sabotage } from './settings.js';
import { StallLog } from './stall-log.js';

/** The instance into which some deliberate bugs are built. */
const BUGGY_INSTANCE = 3;

/** The observed processes: instances, the service, Redis, and the network between them. */
export class Fleet {
  readonly callers: Caller[] = [];
  /**
   * Calls an instance without a store, for comparison: problems that it has too are not caused by the store.
   */
  comparison: Caller | undefined;
  readonly #stalls = new StallLog();

  private constructor(
    readonly redis: RedisServer,
    readonly service: Child<SessionServiceApi>,
    readonly network: Child<NetworkApi>,
    readonly instances: readonly Child<InstanceApi>[],
    private readonly withoutStore: Child<InstanceApi>,
  ) {}

  static async start(seed: number, sabotage: Sabotage | undefined): Promise<Fleet> {
    const process = <Api extends Record<string, (argument: never) => unknown>>(name: string): Child<Api> =>
      new Child<Api>(new URL(`./${name}.process.js`, import.meta.url));
    const instances = Array.from({ length: INSTANCES }, () => process<InstanceApi>('instance'));
    const fleet = new Fleet(
      await RedisServer.start(),
      process('session-service'),
      process('network'),
      instances,
      process('instance'),
    );
    const baseUrl = await fleet.service.call('start', seed);
    const ports = await fleet.network.call('start', { count: INSTANCES, port: fleet.redis.port });
    for (const [place, instance] of instances.entries()) {
      const isBuggy = sabotage !== 'deaf' || place === BUGGY_INSTANCE;
      const order = {
        platform: place % 2 === 0 ? 'Express' : 'Fastify',
        baseUrl,
        redisPort: ports[place] ?? 0,
      } as const;
      const url = await instance.call('start', { ...order, sabotage: isBuggy ? sabotage : undefined });
      fleet.callers.push(new Caller(place, url));
    }
    fleet.comparison = new Caller(
      INSTANCES,
      await fleet.withoutStore.call('start', { platform: 'Express', baseUrl }),
    );
    return fleet;
  }

  /** Adds the records of the processes since the last call to the journal. */
  async collect(journal: Journal): Promise<void> {
    const ofInstances = this.instances.map(async (instance, place) => {
      const { events, stalls } = await instance.call('take');
      journal.links[place]?.push(...events);
      journal.addStalls(`instance ${place}`, stalls);
    });
    journal.addServiceRecord(await this.service.call('take'));
    journal.addStalls('network', await this.network.call('takeStalls'));
    journal.addStalls('recorder', this.#stalls.take());
    await Promise.all(ofInstances);
  }

  /** Stops all processes. Returns the names of those that did not exit by themselves. */
  async stop(): Promise<string[]> {
    for (const caller of this.callers) caller.close();
    this.comparison?.close();
    const processes = [...this.instances.entries(), ['without a store', this.withoutStore] as const];
    const ended = await Promise.all(
      processes.map(async ([name, process]) => ((await process.stops()) ? [] : [`instance ${name}`])),
    );
    await this.service.stops();
    await this.network.stops();
    await this.redis.close();
    return ended.flat();
  }
}
