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
      await expect(new RedisSessionStore({ redis }).delete('key')).rejects.toThrow('Redis is not connected');
      expect(commands).toEqual([]);
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
  const LEASE = { id: 'mine', holder: 'me', ttlMs: 1_000, graceMs: 200 };

  /** Looks up an entry with some remaining milliseconds, without a heartbeat of any holder. */
  function lookUp(bytes: string, remainingMs: number) {
    const replies = [[5_000, Buffer.from(bytes), remainingMs], [5_000]];
    const client = clientOf((_command, args) =>
      args.at(-1) === 'session-auth:alive:holder' ? [null] : replies.shift(),
    );
    return { ...client, entry: new RedisSessionStore({ redis: client.redis }).get('key', LEASE) };
  }

  it.each([
    'Lid:holder',
    'L:holder:1',
    'Lid::1',
    'Lid:holder:',
    'Lid:holder:1x',
    'L Lid:holder:1',
    'Xid:holder:1',
    '',
  ])('that is no lease is a value that cannot be opened: "%s"', async (bytes) => {
    const { entry, commands } = lookUp(bytes, 500);
    expect(await entry).toEqual({
      kind: 'value',
      value: new Uint8Array(),
      remainingMs: 0,
      storeTimeMs: 5_000,
    });
    expect(commands).toHaveLength(1);
  });

  it('is a lease until its grace period is over', async () => {
    const { entry, commands } = lookUp('Lid:holder:499', 500);
    expect(await entry).toEqual({ kind: 'leased', lease: 'id', storeTimeMs: 5_000 });
    expect(commands).toHaveLength(1);
  });

  it.each([
    ['after its grace period if its holder shows no life', 500, 3],
    ['with no time left if its holder shows no life', 0, 3],
    ['without a look at its holder if it has no end: no instance has set it', -1, 2],
  ])('that is a lease counts as ended %s', async (_when, remainingMs, sent) => {
    const { entry, commands } = lookUp('Lid:holder:500', remainingMs);
    expect(await entry).toEqual({ kind: 'none', storeTimeMs: 5_000 });
    expect(commands).toHaveLength(sent);
  });

  it('that is an ended lease is taken by no one who wants none', async () => {
    const replies = [[5_000, Buffer.from('Lid:holder:500'), 500], [null]];
    const { redis, commands } = clientOf(() => replies.shift());
    expect(await new RedisSessionStore({ redis }).get('key')).toEqual({ kind: 'none', storeTimeMs: 5_000 });
    expect(commands.map((command) => command.slice(-2))).toEqual([
      ['', 0],
      [1, 'session-auth:alive:holder'],
    ]);
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
