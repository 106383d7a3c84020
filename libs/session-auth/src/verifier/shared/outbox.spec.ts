import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Outbox } from './outbox.js';
import { StoreAccess } from './store-access.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function outboxWith() {
  const store = { isUp: false, received: [] as string[] };
  const outbox = new Outbox(new StoreAccess(50, () => undefined));
  const deliver = (name: string, forMs = 60_000, text = name) =>
    outbox.deliver({
      name,
      forMs,
      send: (leftMs) => {
        if (!store.isUp) return Promise.reject(new Error('down'));
        store.received.push(`${text} for ${leftMs}`);
        return Promise.resolve();
      },
    });
  return { store, outbox, deliver };
}

describe('a delivery', () => {
  it('is made once if the store works', async () => {
    const { store, outbox, deliver } = outboxWith();
    store.isUp = true;
    await deliver('end');
    await outbox.flush();
    await jest.advanceTimersByTimeAsync(10_000);
    expect(store.received).toEqual(['end for 60000']);
  });

  it('is retried until the store is available, with the remaining lifetime', async () => {
    const { store, deliver } = outboxWith();
    await deliver('end');
    await jest.advanceTimersByTimeAsync(9_000);
    expect(store.received).toEqual([]);
    store.isUp = true;
    await jest.advanceTimersByTimeAsync(1_000);
    expect(store.received).toHaveLength(1);
    expect(Number(store.received[0]?.slice('end for '.length))).toBeLessThanOrEqual(51_000);
  });

  it('is not retried once it has expired, was cancelled, or the outbox was closed', async () => {
    const { store, outbox, deliver } = outboxWith();
    await Promise.all([deliver('short', 400), deliver('cancelled'), deliver('long')]);
    outbox.cancel('cancelled');
    await jest.advanceTimersByTimeAsync(600);
    store.isUp = true;
    await jest.advanceTimersByTimeAsync(600);
    expect(store.received.map((text) => text.split(' ')[0])).toEqual(['long']);
    store.isUp = false;
    await deliver('closed');
    outbox.close();
    store.isUp = true;
    await jest.advanceTimersByTimeAsync(5_000);
    expect(store.received).toHaveLength(1);
  });

  it('replaces an earlier one of the same name', async () => {
    const { store, deliver } = outboxWith();
    await deliver('end', 60_000, 'first');
    await deliver('end', 60_000, 'second');
    store.isUp = true;
    await jest.advanceTimersByTimeAsync(600);
    expect(store.received.map((text) => text.split(' ')[0])).toEqual(['second']);
  });

  it('is not lost if it is replaced during a retry', async () => {
    const { store, outbox, deliver } = outboxWith();
    await deliver('end', 60_000, 'first');
    store.isUp = true;
    const flushed = outbox.flush();
    store.isUp = false;
    await deliver('end', 60_000, 'second');
    await flushed;
    store.isUp = true;
    await jest.advanceTimersByTimeAsync(600);
    expect(store.received.map((text) => text.split(' ')[0])).toEqual(['first', 'second']);
  });

  it('is not delayed by others that keep failing', async () => {
    const sent: string[] = [];
    const outbox = new Outbox(new StoreAccess(50, () => undefined));
    let isUp = false;
    const refused = (): Promise<never> => Promise.reject(new Error('no right'));
    const names = Array.from({ length: 100 }, (_, index) => `tombstone ${index}`);
    await Promise.all(names.map((name) => outbox.deliver({ name, forMs: 60_000, send: refused })));
    await outbox.deliver({ name: 'message', forMs: 60_000, send: () => (isUp ? Promise.resolve(sent.push('message')) : refused()) });
    isUp = true;
    await jest.advanceTimersByTimeAsync(5_000);
    expect(sent).toEqual(['message']);
  });

  it('replaces the oldest of 10 000 pending deliveries', async () => {
    const { store, outbox, deliver } = outboxWith();
    for (let index = 0; index <= 10_000; index += 1) await deliver(`end-${index}`);
    store.isUp = true;
    await outbox.flush();
    expect([store.received.length, store.received[0]?.split(' ')[0]]).toEqual([10_000, 'end-1']);
  });
});

describe('the retries', () => {
  /** An outbox whose attempts end when the test says so. */
  function slowOutbox() {
    const attempts: { readonly name: string; readonly end: (isDone: boolean) => Promise<void> }[] = [];
    const outbox = new Outbox(new StoreAccess(10_000, () => undefined));
    const deliver = (name: string): Promise<void> =>
      outbox.deliver({
        name,
        forMs: 60_000,
        send: () =>
          new Promise<void>((resolve, reject) => {
            const end = async (isDone: boolean): Promise<void> => {
              if (isDone) resolve();
              else reject(new Error('down'));
              await jest.advanceTimersByTimeAsync(0);
            };
            attempts.push({ name, end });
          }),
      });
    return { attempts, outbox, deliver };
  }

  it('do not include a delivery that was cancelled during its retry', async () => {
    const { attempts, outbox, deliver } = slowOutbox();
    void deliver('tombstone');
    await attempts[0]?.end(false);
    await jest.advanceTimersByTimeAsync(500);
    expect(outbox.cancel('tombstone')).toBe(true);
    await attempts[1]?.end(false);
    await jest.advanceTimersByTimeAsync(60_000);
    expect([attempts.length, outbox.cancel('tombstone'), jest.getTimerCount()]).toEqual([2, false, 0]);
  });

  it('are not made twice when two are due at the same time', async () => {
    const { attempts, outbox, deliver } = slowOutbox();
    void deliver('tombstone');
    await attempts[0]?.end(false);
    const flushes = Promise.all([outbox.flush(), outbox.flush()]);
    expect(attempts).toHaveLength(2);
    await attempts[1]?.end(true);
    await flushes;
    await jest.advanceTimersByTimeAsync(10_000);
    expect([attempts.length, jest.getTimerCount()]).toEqual([2, 0]);
  });

  it('stop when a whole batch of 32 fails', async () => {
    let attempts = 0;
    const outbox = new Outbox(new StoreAccess(50, () => undefined));
    const send = (): Promise<never> => Promise.reject(new Error(`no right to attempt ${(attempts += 1)}`));
    for (let index = 0; index < 64; index += 1) await outbox.deliver({ name: `${index}`, forMs: 60_000, send });
    attempts = 0;
    await outbox.flush();
    expect(attempts).toBe(32);
    outbox.close();
  });

  it('end with the lifetime of a delivery', async () => {
    const { store, outbox, deliver } = outboxWith();
    await deliver('short', 500);
    store.isUp = true;
    await jest.advanceTimersByTimeAsync(500);
    expect([store.received, outbox.cancel('short'), jest.getTimerCount()]).toEqual([[], false, 0]);
  });

  it('leave no timer after all were delivered, and none after the outbox has closed', async () => {
    const { store, outbox, deliver } = outboxWith();
    await deliver('end');
    expect(jest.getTimerCount()).toBe(1);
    store.isUp = true;
    await outbox.flush();
    await jest.advanceTimersByTimeAsync(500);
    expect([store.received.length, jest.getTimerCount()]).toEqual([1, 0]);
    outbox.close();
    store.isUp = false;
    await deliver('end');
    expect(jest.getTimerCount()).toBe(0);
  });
});
