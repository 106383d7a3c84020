import type { Redis } from 'ioredis';
import {
  json,
  reply,
  startSessionService,
  type Script,
  type ScriptedSessionService,
} from 'nestjs-session-auth/testing';
import { MeddlingProxy } from '../support/meddling-proxy.js';
import { redisClient, RedisServer } from '../support/redis.js';
import { until } from '../support/until.js';
import type { InstanceHosts } from './instance-hosts.js';
import type { Instance } from './instance.js';
import type { InstanceSettings } from './instance-settings.js';

/** The longest time to wait for a store: a Redis on a busy machine is not a slow one. */
export const PATIENCE_MS = 1_000;
/** For a check: more than a busy machine takes. */
const TOTAL_MS = 30_000;

/** For an entry that an instance writes. */
const KEPT_WITHIN_MS = 20_000;

/** The channel of the default prefix. */
export const CHANNEL = 'session-auth:messages';

interface Closable {
  close(): unknown;
}

/** A Redis, a session service, and instances of an application: started for one test, and ended after it. */
export class Fleet {
  readonly #hosts: InstanceHosts;
  readonly #kept: Closable[] = [];
  readonly #users = new Map<string, object | undefined>();

  private constructor(
    hosts: InstanceHosts,
    readonly server: RedisServer,
    readonly service: ScriptedSessionService,
    /** A client that sees and may do everything. */
    readonly redis: Redis,
  ) {
    this.#hosts = hosts;
    service.on('user_details', this.details);
    this.#kept.push(server, service, { close: () => redis.disconnect() });
  }

  static async start(hosts: InstanceHosts): Promise<Fleet> {
    const server = await RedisServer.start();
    const redis = redisClient(server.port);
    return new Fleet(hosts, server, await startSessionService(), redis);
  }

  /** Starts a number of instances, on Express and on Fastify in turn, that receive each other's messages. */
  async instances(count: number, settings: Partial<InstanceSettings> = {}): Promise<Instance[]> {
    const instances = await Promise.all(
      Array.from({ length: count }, (_, index) => this.instance({ ...platformOf(index), ...settings })),
    );
    await this.receiving(...instances);
    return instances;
  }

  /** Starts an instance. If it uses the Redis of the fleet directly, its client is connected. */
  async instance({ store, ...settings }: Partial<InstanceSettings> = {}): Promise<Instance> {
    const place = { baseUrl: this.service.url, redis: { port: this.server.port } };
    const options = { timeoutMs: TOTAL_MS, ...settings.options };
    const instance = await this.#hosts.start({
      ...place,
      store: { timeoutMs: PATIENCE_MS, ...store },
      ...settings,
      options,
    });
    this.keep(instance);
    if (settings.redis === undefined) await instance.do('connected');
    return instance;
  }

  /** Puts a proxy before the Redis. */
  async proxy(): Promise<MeddlingProxy> {
    return this.keep(await MeddlingProxy.to(this.server.port));
  }

  /** Starts two instances that receive each other's messages, of which one has its Redis behind a proxy. */
  async nearAndFar(): Promise<{ near: Instance; far: Instance; proxy: MeddlingProxy }> {
    const proxy = await this.proxy();
    const near = await this.instance();
    const far = await this.instance({ redis: { port: proxy.port }, platform: 'Fastify' });
    await this.receiving(near, far);
    return { near, far, proxy };
  }

  /** Resolves when these instances have read that they are subscribed: what they cache from then on stays. */
  async receiving(...instances: readonly Instance[]): Promise<void> {
    for (const instance of instances) await until('it receives', () => instance.do('isReceiving'));
  }

  /** Resolves when `count` clients are subscribed to the channel. */
  async subscribed(count: number): Promise<void> {
    await until(`${count} are subscribed`, async () => (await this.listeners()) === count);
  }

  async listeners(): Promise<number> {
    const [, count] = (await this.redis.pubsub('NUMSUB', CHANNEL)) as [string, number];
    return count;
  }

  /** Returns the key of the only entry, as soon as it is of this kind: `V` a value, `E` a tombstone. */
  async key(kind: 'V' | 'E'): Promise<string> {
    let key = '';
    await until(
      `${kind} is in the store`,
      async () => {
        [key = ''] = await this.entries();
        return key !== '' && (await this.redis.getrange(key, 0, 0)) === kind;
      },
      KEPT_WITHIN_MS,
    );
    return key;
  }

  /** Returns the keys of sessions, without revocations. */
  async entries(): Promise<string[]> {
    return (await this.redis.keys('*')).filter((key) => !key.includes(':revoked:'));
  }

  /** How often the service was asked about sessions. */
  get asked(): number {
    return this.service.callsTo('user_details');
  }

  signIn(record: object = {}, token = `token-${this.#users.size + 1}`): string {
    this.#users.set(token, { username: 'ann', auth_token: token, ...record });
    return token;
  }

  /** Ends a session at the service. */
  revoke(token: string): void {
    this.#users.set(token, undefined);
  }

  /** How the service answers about sessions, unless a test has it do something else. */
  readonly details: Script = (request, ...call) => {
    const user = this.#users.get(String(request.headers['x-auth-token']));
    (user ? json(user) : reply(401))(request, ...call);
  };

  /** Empties the store, resets the answers of the service, and clears its list of requests. */
  async reset(): Promise<void> {
    await this.redis.flushall();
    this.service.requests.splice(0);
    this.service.on('user_details', this.details);
    this.service.on('sign_out', reply(200));
  }

  /** Closes something when the test is over. */
  keep<Kept extends Closable>(kept: Kept): Kept {
    this.#kept.push(kept);
    return kept;
  }

  async close(): Promise<void> {
    const errors: unknown[] = [];
    for (const kept of this.#kept.splice(0).reverse()) {
      try {
        await kept.close();
      } catch (error) {
        errors.push(error);
      }
    }
    // An instance that crashed fails the test, and leaves neither servers nor processes behind.
    if (errors.length > 0) throw errors[0];
  }
}

function platformOf(index: number): Pick<InstanceSettings, 'platform'> {
  return { platform: index % 2 === 0 ? 'Express' : 'Fastify' };
}
