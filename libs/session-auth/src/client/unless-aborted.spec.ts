import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { abortable } from './deadline.js';

const never = new Promise<string>(() => undefined);

describe('a caller that may give up', () => {
  it('gets the result, or its failure, while he does not', async () => {
    const { signal } = new AbortController();
    const failure = new Error('failed');
    await expect(abortable(Promise.resolve('result'), signal)).resolves.toBe('result');
    await expect(abortable(Promise.reject(failure), signal)).rejects.toBe(failure);
  });

  it('gets his own reason as soon as he gives up, or has given up before', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const waiting = abortable(never, controller.signal);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(abortable(never, controller.signal)).rejects.toBe(reason);
  });

  it('is listened to no longer than until the result is there', async () => {
    const { signal } = new AbortController();
    const waiting = abortable(Promise.resolve('result'), signal);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await waiting;
    await new Promise(setImmediate);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});
