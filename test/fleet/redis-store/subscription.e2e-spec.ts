import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis, Cluster } from 'ioredis';
import { RedisSessionStore } from 'nestjs-session-auth/redis';
import { describeWithRedis, redisClient, RedisServer } from '../../support/redis.js';
import { MeddlingProxy } from '../../support/meddling-proxy.js';
import { until } from '../../support/until.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { oneOf } from '../../support/long-form.js';
import { RecordedSubscriber } from './recorded-subscriber.js';

const PASSWORD = 'correct-horse-battery';
const RIGHTS = ['resetkeys', 'resetchannels', '~session-auth:*', '&session-auth:*', '+@all'];
const NOT_ALLOWED =
  'Redis refuses the subscription: its user lacks the right to the channels or to SUBSCRIBE';

interface Options {
  port?: number;
  retryStrategy?: () => void;
  reconnectOnError?: () => boolean;
}

describeWithRedis('the subscription of a store', () => {
  let server: RedisServer;
  let admin: Redis;
  let subscriber: RecordedSubscriber;
  let close: () => Promise<void>;

  beforeEach(async () => {
    server = await RedisServer.start();
    admin = redisClient(server.port);
    await setUser(`>${PASSWORD}`, ...RIGHTS);
    subscriber = new RecordedSubscriber();
  });
  afterEach(async () => {
    await close();
    admin.disconnect();
    await server.close();
  });

  const setUser = (...rules: string[]) => admin.call('ACL', 'SETUSER', 'application', 'on', ...rules);

  function subscribe(options: Options = {}): void {
    const redis = new Redis({
      host: '127.0.0.1',
      port: server.port,
      username: 'application',
      password: PASSWORD,
      ...options,
    });
    subscribeBy(redis);
  }

  function subscribeBy(redis: Redis | Cluster): void {
    redis.on('error', () => undefined);
    const stop = new RedisSessionStore({ redis }).subscribe(subscriber);
    close = async () => {
      await stop();
      redis.disconnect();
    };
  }

  it('calls no function of the options of the client, which may throw', async () => {
    const called: string[] = [];
    await setUser('-subscribe');
    subscribe({
      retryStrategy: () => void called.push('retryStrategy'),
      reconnectOnError: () => {
        called.push('reconnectOnError');
        return false;
      },
    });
    await until('it is refused', () => subscriber.states.includes(NOT_ALLOWED));
    await setUser('+subscribe');
    await expectMessages();
    await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await until('it is subscribed again', () => subscriber.states.length > 2 && subscriber.isSubscribed);
    expect(called).toEqual([]);
  });

  async function expectMessages(): Promise<void> {
    await until('it is subscribed', () => subscriber.isSubscribed);
    await admin.publish('session-auth:messages', 'hello');
    await until('a message arrives', () => subscriber.messages.includes('hello'));
  }

  it.each([
    ['without the right to the channels', ['resetchannels'], ['&session-auth:*'], NOT_ALLOWED],
    [
      'with a password that was changed',
      ['resetpass', '>another'],
      [`>${PASSWORD}`],
      'Redis refuses the user name or the password',
    ],
  ])(
    'reports why a user %s cannot subscribe, and when it can [Q05]',
    async (_name, before, after, reason) => {
      await setUser(...before);
      subscribe();

      await until('the state is reported', () => subscriber.states.length > 0);
      await setUser(...after);
      await expectMessages();

      expect(subscriber.states).toEqual([reason, 'subscribed']);
    },
  );

  it('reports that a right was revoked while it was subscribed [Q05]', async () => {
    subscribe();
    await expectMessages();

    await setUser('resetchannels');
    await until('the state is reported', () => subscriber.states.includes(NOT_ALLOWED));
    await setUser('&session-auth:*');
    await expectMessages();

    expect(subscriber.states.at(0)).toBe('subscribed');
  });

  it('reports that Redis is down, and when it is up again [Q05]', async () => {
    subscribe();
    await expectMessages();

    await server.kill();
    await until('the state is reported', () => subscriber.states.at(-1)?.includes('ECONNREFUSED') === true);
    expect(subscriber.states.at(-1)).toBe('The connection to Redis failed (ECONNREFUSED)');

    await server.run();
    await setUser(`>${PASSWORD}`, ...RIGHTS);
    await expectMessages();
  });

  it('reports that Redis stops answering, and when it answers again [Q05]', async () => {
    const proxy = await MeddlingProxy.to(server.port);
    subscribe({ port: proxy.port });
    await expectMessages();

    proxy.fallSilent();
    await until('the state is reported', () => subscriber.states.length === 2);
    expect(subscriber.states[1]).toBe('Redis does not answer');
    proxy.restore();
    await expectMessages();
    await proxy.close();
  });

  it('reports that no node of a Cluster can be reached', async () => {
    subscribeBy(new Cluster([{ host: '127.0.0.1', port: 1 }]));

    await until('the state is reported', () => subscriber.states.length > 0);
    expect(subscriber.states).toEqual(['The Redis Cluster is not connected']);
  });

  it('leaves no connection open, whenever it ends', async () => {
    for (const state of ['connecting', 'subscribed']) {
      subscribe();
      if (state === 'subscribed') await expectMessages();
      await close();
      await until(
        `none is left of one that is ${state}`,
        async () => !String(await admin.client('LIST')).includes('user=application'),
      );
    }
  });
});

const CHANNEL = 'session-auth:messages';
const MOVED_OUT = 'Redis does not deliver published messages: the node may have left the cluster';
const INSTANCES = 12;

describeWithRedis('the subscription of a store in a Redis Cluster', () => {
  let cluster: RedisCluster;
  let redis: Cluster;
  let stops: (() => Promise<void>)[];

  beforeEach(async () => {
    cluster = await RedisCluster.start(3);
    redis = new Cluster(cluster.places.slice(0, 1));
    redis.on('error', () => undefined);
    stops = [];
  });
  afterEach(async () => {
    for (const stop of stops) await stop();
    redis.disconnect();
    await cluster.close();
  });

  function subscribe(): RecordedSubscriber {
    const subscriber = new RecordedSubscriber();
    stops.push(new RedisSessionStore({ redis }).subscribe(subscriber));
    return subscriber;
  }

  async function nodeOf(subscriber: RecordedSubscriber): Promise<number> {
    await until('it is subscribed', () => subscriber.isSubscribed);
    return (await cluster.listeners(CHANNEL)).indexOf(1);
  }

  it('spreads instances over the nodes, though all subscribe before the cluster is discovered [Q06]', async () => {
    await new Promise((resolve) => redis.once('+node', resolve));
    const subscribers = Array.from({ length: INSTANCES }, subscribe);

    await until('all are subscribed', () => subscribers.every(({ isSubscribed }) => isSubscribed));
    expect((await cluster.listeners(CHANNEL)).filter((count) => count > 0).length).toBeGreaterThan(1);
  });

  it.each(
    oneOf('ways in which a node leaves', [
      ['is killed', 'kill', 'The connection to Redis was closed'],
      ['is reset', 'reset', MOVED_OUT],
      ['is removed by the others', 'forget', MOVED_OUT],
    ] as const),
  )('moves to another node when its node %s, and reports it [Q06]', async (_name, leave, reason) => {
    const subscriber = subscribe();
    const left = await nodeOf(subscriber);

    await cluster[leave](left);
    await until('it is subscribed again', () => subscriber.isSubscribed && subscriber.states.length > 1);

    expect(subscriber.states).toEqual(['subscribed', reason, 'subscribed']);
    if (leave !== 'kill') expect((await cluster.listeners(CHANNEL))[left]).toBe(0);
    await cluster.publish(leave === 'kill' ? 0 : (left + 1) % 3, CHANNEL, 'hello');
    await until('a message arrives', () => subscriber.messages.includes('hello'));
  });
});
