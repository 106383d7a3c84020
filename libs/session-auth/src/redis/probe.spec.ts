import { describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { Interruption, Probe, reasonOf, withTimeout } from './probe.js';
import { publishersFor } from './subscriber-connection.js';

const CLOSED = 'The connection to Redis was closed';

describe('the reason why no message arrives', () => {
  it.each<[unknown, string]>([
    [new Interruption('Redis does not answer'), 'Redis does not answer'],
    [
      new Error('NOPERM no rights'),
      'Redis refuses the subscription: its user lacks the right to the channels or to SUBSCRIBE',
    ],
    ...['WRONGPASS', 'NOAUTH', 'ERR invalid password', 'ERR AUTH'].map<[unknown, string]>((message) => [
      new Error(`${message} for ann`),
      'Redis refuses the user name or the password',
    ]),
    [
      new Error('All sentinels are unreachable. Retrying'),
      'No Sentinel that monitors the master is reachable',
    ],
    [
      Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
      'The connection to Redis failed (ECONNREFUSED)',
    ],
    [Object.assign(new Error('read'), { code: 'E2BIG' }), 'The connection to Redis failed (E2BIG)'],
    [
      Object.assign(new Error('tls'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
      'The connection to Redis failed (DEPTH_ZERO_SELF_SIGNED_CERT)',
    ],
    [undefined, CLOSED],
    [new Error('Connection is closed.'), CLOSED],
  ])('is one sentence: %s', (error, reason) => {
    expect(reasonOf(error)).toBe(reason);
  });

  it.each(['ERR user NOPERM', 'ERR user WRONGPASS', 'ERR All sentinels are unreachable'])(
    'has no text of a reply, which may contain a user name: %s',
    (message) => {
      expect(reasonOf(new Error(message))).toBe(CLOSED);
      expect(reasonOf(Object.assign(new Error(message), { code: `${message}_CODE` }))).toBe(CLOSED);
      expect(reasonOf(Object.assign(new Error(message), { code: `CODE of ann` }))).toBe(CLOSED);
    },
  );
});

describe('a probe', () => {
  const running = new AbortController().signal;
  const publisherOf = (publish: (id: string) => Promise<unknown>): Redis =>
    ({
      options: {},
      callBuffer: (_command: string, _channel: string, id: string) => publish(id),
    }) as unknown as Redis;
  const refusing = publisherOf(() => Promise.reject(new Error('NOPERM')));
  const lost = publisherOf(() => Promise.resolve(0));

  it('arrives if any client could publish it', async () => {
    const probe = new Probe('probes', running);
    const delivering = publisherOf((id) => {
      probe.receive(Buffer.from('of another instance'));
      queueMicrotask(() => [id, id].forEach((sent) => probe.receive(Buffer.from(sent))));
      return Promise.resolve(1);
    });
    expect(await probe.arrives([refusing, lost, delivering])).toBe(true);
  });

  it('proves nothing if no client could publish it', async () => {
    expect(await new Probe('probes', running).arrives([refusing])).toBe(true);
    expect(await new Probe('probes', running).arrives([])).toBe(true);
  });

  it('is lost if it was published and only messages of others arrive, whatever another client could', async () => {
    const probe = new Probe('probes', running);
    const foreign = publisherOf(() => {
      probe.receive(Buffer.from('of another instance'));
      return Promise.resolve(1);
    });
    expect(await probe.arrives([foreign])).toBe(false);
    expect(await new Probe('probes', running).arrives([lost, refusing])).toBe(false);
  });

  it('is expected before it is published: it may arrive at once', async () => {
    const probe = new Probe('probes', running);
    const immediate = publisherOf((id) => {
      probe.receive(Buffer.from(id));
      return Promise.resolve(1);
    });
    expect(await probe.arrives([immediate])).toBe(true);
  });
});

describe('the clients that publish probes', () => {
  const node = (port: number, status = 'ready'): Redis =>
    ({ status, options: { host: '127.0.0.1', port } }) as unknown as Redis;
  const clusterOf = (...nodes: Redis[]): Redis =>
    ({ status: 'ready', nodes: () => nodes }) as unknown as Redis;
  const subscriber = node(1);

  it('are the client of a single server, twice, while it is connected', () => {
    const [ready, connecting] = [node(1), node(1, 'connecting')];
    expect(publishersFor(ready, subscriber)).toEqual([ready, ready]);
    expect(publishersFor(connecting, subscriber)).toEqual([]);
  });

  it('are up to three connected nodes of a Cluster, other than that of the subscriber', () => {
    const ports = publishersFor(clusterOf(subscriber, node(2), node(3, 'end')), subscriber).map(
      ({ options }) => options.port,
    );
    expect(ports).toEqual([2]);
    expect(
      publishersFor(clusterOf(...[1, 2, 3, 4, 5, 6].map((port) => node(port))), subscriber),
    ).toHaveLength(3);
  });
});

describe('work with a time limit', () => {
  const never = new Promise<never>(() => undefined);

  it('settles as the work does', async () => {
    const { signal } = new AbortController();
    await expect(withTimeout(Promise.resolve('done'), 10_000, signal)).resolves.toBe('done');
    await expect(withTimeout(Promise.reject(new Error('failed')), 10_000, signal)).rejects.toThrow('failed');
  });

  it('is given up at the limit, and when the signal aborts or has aborted', async () => {
    const controller = new AbortController();
    await expect(withTimeout(never, 1, controller.signal)).rejects.toThrow('Redis does not answer');
    const waiting = withTimeout(never, 10_000, controller.signal);
    controller.abort();
    await expect(waiting).rejects.toThrow('aborted');
    await expect(withTimeout(never, 10_000, controller.signal)).rejects.toThrow('aborted');
  });
});
