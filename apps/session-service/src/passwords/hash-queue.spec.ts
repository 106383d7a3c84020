import { describe, expect, it } from '@jest/globals';
import { HashQueue, HashQueueFullError } from './hash-queue.js';

interface HeldHash {
  readonly name: string;
  finish(): void;
}

function hashesHeldIn(queue: HashQueue): {
  readonly started: HeldHash[];
  readonly ask: (name: string) => Promise<string>;
} {
  const started: HeldHash[] = [];
  const hold = (name: string): Promise<string> =>
    new Promise((resolve) => {
      started.push({ name, finish: () => resolve(name) });
    });
  return { started, ask: (name) => queue.run(() => hold(name)) };
}

describe('HashQueue', () => {
  it('runs two hashes at once and lets the others wait for their turn, in order', async () => {
    const { started, ask } = hashesHeldIn(new HashQueue(2, 10));
    const all = Promise.all(['a', 'b', 'c', 'd'].map((name) => ask(name)));
    await new Promise(setImmediate);
    expect(started.map(({ name }) => name)).toEqual(['a', 'b']);

    started[1]?.finish();
    await new Promise(setImmediate);
    expect(started.map(({ name }) => name)).toEqual(['a', 'b', 'c']);

    started[0]?.finish();
    await new Promise(setImmediate);
    expect(started.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);

    started.forEach((hash) => hash.finish());
    await expect(all).resolves.toEqual(['a', 'b', 'c', 'd']);
  });

  it('refuses a hash when too many wait, and takes one again when there is room', async () => {
    const { started, ask } = hashesHeldIn(new HashQueue(1, 1));
    const first = ask('first');
    const second = ask('second');
    await expect(ask('third')).rejects.toBeInstanceOf(HashQueueFullError);

    started[0]?.finish();
    await first;
    const fourth = ask('fourth');
    await new Promise(setImmediate);
    started[1]?.finish();
    await second;
    await new Promise(setImmediate);
    started[2]?.finish();
    await expect(fourth).resolves.toBe('fourth');
  });

  it('gives the place of a failed hash to the next', async () => {
    const queue = new HashQueue(1, 1);
    await expect(queue.run(() => Promise.reject(new Error('no memory')))).rejects.toThrow('no memory');
    await expect(queue.run(() => Promise.resolve('fine'))).resolves.toBe('fine');
  });
});
