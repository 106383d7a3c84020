import { describe, expect, it } from '@jest/globals';
import type { Cluster, Redis } from 'ioredis';
import { RedisSessionStore, type RedisSessionStoreOptions } from './index.js';

type Reply = (command: string, args: readonly unknown[]) => unknown;

/** A client that records its commands, and answers each as a test says. */
function clientOf(replyTo: Reply, further: object = {}): { redis: Redis & Cluster; commands: unknown[][] } {
  const commands: unknown[][] = [];
  const callBuffer = async (command: string, ...args: unknown[]): Promise<unknown> => {
    commands.push([command, ...args]);
    return Promise.resolve(replyTo(command, args));
  };
  const client = { status: 'ready', options: {}, pipeline: () => undefined, callBuffer, ...further };
  return { redis: client as unknown as Redis & Cluster, commands };
}

const failing = (message: string) => (): never => {
  throw new Error(message);
};

describe('the options of a store in Redis', () => {
  const { redis } = clientOf(() => null);
  const create = (options: object) => () => new RedisSessionStore(options as RedisSessionStoreOptions);

  it('are a client, a secret, a time limit and a prefix, of which only the client is needed', () => {
    expect(create({ redis })().secret).toBeUndefined();
    expect(create({ redis, secret: 's'.repeat(16), timeoutMs: 80, prefix: 'openings' })().timeoutMs).toBe(80);
  });

  it.each<[object, string]>([
    [
      { redis, ttlMs: 1 },
      'RedisSessionStore: ttlMs is not an option. Valid options: redis, secret, timeoutMs, prefix.',
    ],
    [{}, "RedisSessionStore: redis must be a client of 'ioredis'"],
    [{ redis: { call: () => null } }, "RedisSessionStore: redis must be a client of 'ioredis'"],
    [{ redis, prefix: '' }, 'RedisSessionStore: prefix must be a string that is not empty'],
    [{ redis, prefix: ['openings'] }, 'RedisSessionStore: prefix must be a string that is not empty'],
  ])('are rejected by name: %j', (options, message) => {
    expect(create(options)).toThrow(message);
  });
});

describe('a command to Redis', () => {
  it.each(['ready', 'wait'])('is sent by a client that is %s', async (status) => {
    const { redis, commands } = clientOf(() => 1, { status });
    await new RedisSessionStore({ redis }).publish(Buffer.from('message'));
    expect(commands).toEqual([['publish', 'session-auth:messages', Buffer.from('message')]]);
  });

  it.each(['connecting', 'reconnecting', 'end'])(
    'is refused at once by a client that is %s, which would queue it',
    async (status) => {
      const { redis, commands } = clientOf(() => 1, { status });
      const store = new RedisSessionStore({ redis });
      const bytes = new Uint8Array(1);
      const outcomes = await Promise.allSettled([
        store.get('key'),
        store.set('key', bytes, 1),
        store.delete('key'),
        store.setTombstone('key', 1),
        store.clearTombstone('key'),
        store.setRevocation('key', 1),
        store.getRevocations(['key']),
        store.publish(bytes),
      ]);
      const reasons = outcomes.map((one) => 'reason' in one && String(one.reason));
      expect([new Set(reasons), commands]).toEqual([new Set(['Error: Redis is not connected']), []]);
    },
  );

  it('fails with auto-pipelining if the client answers nothing, and with the error of its reply', async () => {
    const withReplies = (replies: unknown): Redis => {
      const exec = (): Promise<unknown> => Promise.resolve(replies);
      const pipeline = () => ({ callBuffer: () => ({ exec }) });
      return clientOf(() => null, { options: { enableAutoPipelining: true }, pipeline }).redis;
    };
    const published = (replies: unknown): Promise<void> =>
      new RedisSessionStore({ redis: withReplies(replies) }).publish(Buffer.from('message'));
    for (const replies of [null, []])
      await expect(published(replies)).rejects.toThrow(/^Redis is not connected$/);
    await expect(published([[new Error('READONLY'), null]])).rejects.toThrow('READONLY');
    await expect(published([[null, 1]])).resolves.toBeUndefined();
  });

  it('loads its script where the server does not have it, and is not repeated after another error', async () => {
    const missing = clientOf((command) =>
      command === 'evalsha' ? failing('NOSCRIPT No matching script')() : 1,
    );
    await expect(new RedisSessionStore({ redis: missing.redis }).delete('key')).resolves.toBe(true);
    expect(missing.commands.map(([command]) => command)).toEqual(['evalsha', 'eval']);
    for (const message of ['READONLY You can not write', 'ERR after NOSCRIPT']) {
      const other = clientOf(failing(message));
      await expect(new RedisSessionStore({ redis: other.redis }).delete('key')).rejects.toThrow(message);
      expect(other.commands).toHaveLength(1);
    }
  });
});

describe('an entry of Redis', () => {
  const lookUp = (...reply: unknown[]) =>
    new RedisSessionStore({ redis: clientOf(() => [5_000, ...reply]).redis }).get('key');

  it('is a value, whose time is over if it never expires', async () => {
    const value = Buffer.from('value');
    const found = { kind: 'value', value, storeTimeMs: 5_000 };
    expect(await lookUp(Buffer.from('Vvalue'), 500)).toEqual({ ...found, remainingMs: 500 });
    expect(await lookUp(Buffer.from('Vvalue'), -1)).toEqual({ ...found, remainingMs: 0 });
  });

  it('is a tombstone', async () => {
    expect(await lookUp(Buffer.from('E'), 500)).toEqual({ kind: 'tombstone', storeTimeMs: 5_000 });
  });

  it.each(['', 'X', 'vvalue', ' E'])('is none if it reads "%s"', async (bytes) => {
    expect(await lookUp(Buffer.from(bytes), 500)).toEqual({ kind: 'none', storeTimeMs: 5_000 });
  });

  it('is none if there is nothing', async () => {
    expect(await lookUp()).toEqual({ kind: 'none', storeTimeMs: 5_000 });
  });
});

describe('a revocation in a Redis Cluster', () => {
  const recordWith = async (...clocks: (() => unknown)[]): Promise<unknown[]> => {
    const nodes = clocks.map((clock) => clientOf(clock).redis);
    const { redis, commands } = clientOf(() => 7_000, { nodes: () => nodes });
    await new RedisSessionStore({ redis }).setRevocation('user', 60_000);
    return commands.map((command) => command.at(-1));
  };

  it('has the time of the latest clock of all nodes', async () => {
    expect(await recordWith(() => [Buffer.from('7'), Buffer.from('1999')])).toEqual([0, 7_001]);
    expect(await recordWith(() => [Buffer.from('6'), Buffer.from('999999')])).toEqual([0]);
  });

  it('is recorded though the clock of a node cannot be read', async () => {
    expect(await recordWith(failing('closed'), () => [Buffer.from('8'), Buffer.from('0')])).toEqual([
      0, 8_000,
    ]);
  });

  it('is recorded once by a single server', async () => {
    const { redis, commands } = clientOf(() => 7_000);
    await new RedisSessionStore({ redis }).setRevocation('user', 60_000);
    expect(commands).toHaveLength(1);
  });
});
