import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { abortable, Deadline, inTime } from './deadline.js';

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
    await expect(abortable(never, controller.signal)).rejects.toBe(reason);
  });

  it('is its own promise without a signal', () => {
    expect(abortable(never, undefined)).toBe(never);
  });

  it('removes its listener when the signal aborts', async () => {
    const controller = new AbortController();
    const waiting = abortable(never, controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
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
