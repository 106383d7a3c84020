import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { abortable, Deadline, type DeadlineEnd, Deadlines, inTime } from './deadline.js';

describe('a deadline', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('calls its listeners once when its time has passed, and a late one at once', () => {
    const deadline = new Deadline(100);
    const ends: DeadlineEnd[] = [];
    deadline.onEnd((end) => ends.push(end));
    jest.advanceTimersByTime(99);
    expect(ends).toEqual([]);
    jest.advanceTimersByTime(1);
    deadline.end('timeout');
    expect(ends).toEqual(['timeout']);
    deadline.onEnd((end) => ends.push(end));
    expect(ends).toEqual(['timeout', 'timeout']);
  });

  it('calls no listener after it is cleared, and has at least 0 ms left', () => {
    const deadline = new Deadline(100);
    const ends: DeadlineEnd[] = [];
    deadline.onEnd((end) => ends.push(end));
    deadline.clear();
    jest.advanceTimersByTime(500);
    expect([ends, deadline.ended]).toEqual([[], undefined]);
    deadline.end('shutting_down');
    expect(ends).toEqual([]);
    expect(deadline.remainingMs).toBe(0);
  });

  it('counts down, keeps the first reason of its end, and is released at its end', () => {
    const released: Deadline[] = [];
    const deadline = new Deadline(100, (ended) => released.push(ended));
    jest.advanceTimersByTime(40);
    expect(deadline.remainingMs).toBe(60);
    deadline.end('timeout');
    deadline.end('shutting_down');
    expect(deadline.ended).toBe('timeout');
    expect(released).toEqual([deadline]);
  });

  it('of each running call ends at shutdown, whichever completed before, and a later one ends at its start', () => {
    const deadlines = new Deadlines();
    const all = Array.from({ length: 4 }, () => deadlines.start(1_000));
    for (const completed of [0, 3, 3]) all[completed]?.clear();
    void deadlines.close();
    jest.advanceTimersByTime(0);
    const end = 'shutting_down';
    expect(all.map(({ ended }) => ended)).toEqual([undefined, end, end, undefined]);
    expect(deadlines.start(1_000).ended).toBe(end);
  });
});

describe('a shutdown', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => void jest.useRealTimers());
  const GRACE_MS = 60_000;

  /** Returns whether a shutdown has completed. */
  function watching(closing: Promise<void>): () => Promise<boolean> {
    let isClosed = false;
    void closing.then(() => (isClosed = true));
    return async () => {
      await new Promise(setImmediate);
      return isClosed;
    };
  }

  it('waits for nothing if there are no calls', async () => {
    expect(await watching(new Deadlines(GRACE_MS).close())()).toBe(true);
  });

  it('waits until the last call has completed, also if it is requested twice', async () => {
    const deadlines = new Deadlines(GRACE_MS);
    const running = [deadlines.start(GRACE_MS), deadlines.start(GRACE_MS)];
    const isClosed = watching(deadlines.close());
    const isClosedToo = watching(deadlines.close());
    expect(await isClosed()).toBe(false);
    running[0]?.clear();
    expect(await isClosed()).toBe(false);
    running[1]?.clear();
    expect([await isClosed(), await isClosedToo()]).toEqual([true, true]);
    expect(running.map(({ ended }) => ended)).toEqual([undefined, undefined]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('ends the calls that last longer than the grace period', async () => {
    const deadlines = new Deadlines(GRACE_MS);
    const running = Array.from({ length: 10 }, () => deadlines.start(2 * GRACE_MS));
    const ends = (): unknown[] => running.map(({ ended }) => ended);
    const isClosed = watching(deadlines.close());
    await jest.advanceTimersByTimeAsync(GRACE_MS - 1);
    expect([await isClosed(), ...ends()]).toEqual([false, ...running.map(() => undefined)]);
    await jest.advanceTimersByTimeAsync(1);
    expect([await isClosed(), ...ends()]).toEqual([true, ...running.map(() => 'shutting_down')]);
  });
});

describe('the timer of a deadline', () => {
  it('does not keep the process alive', () => {
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const before = timers();
    const deadline = new Deadline(60_000);
    expect(timers()).toBe(before);
    deadline.clear();
  });
});

const never = new Promise<string>(() => undefined);

describe('an abortable result', () => {
  it('settles as its promise unless the signal aborts, and so does one with a deadline', async () => {
    const { signal } = new AbortController();
    const failure = new Error('failed');
    await expect(abortable(Promise.resolve('result'), signal)).resolves.toBe('result');
    const deadline = new Deadline(60_000);
    for (const failed of [
      abortable(Promise.reject(failure), signal),
      inTime(deadline, Promise.reject(failure)),
    ])
      await expect(failed).rejects.toBe(failure);
    deadline.clear();
  });

  it('rejects with the reason of the signal when it aborts, or immediately if it already has', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const waiting = abortable(never, controller.signal);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    await expect(abortable(never, controller.signal)).rejects.toBe(reason);
  });

  it('is its own promise without a signal', () => {
    expect(abortable(never, undefined)).toBe(never);
  });

  it('removes its listener when its promise settles', async () => {
    const { signal } = new AbortController();
    const waiting = abortable(Promise.resolve('result'), signal);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await waiting;
    await new Promise(setImmediate);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});
