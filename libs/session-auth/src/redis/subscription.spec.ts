import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect, it, jest } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { StoreSubscriber } from '../contract/session-store.js';
import { until } from '../../../../test/support/until.js';

/** Longer than the pauses of this test: a heartbeat, or a time limit, which does not end here. */
const LONG_MS = 1_000;
const pauses: number[] = [];
jest.unstable_mockModule('node:timers/promises', () => ({
  setImmediate,
  setTimeout: (ms: number, _value: unknown, { signal }: { signal: AbortSignal }) => {
    if (ms < LONG_MS) return Promise.resolve(void pauses.push(ms));
    return new Promise((_resolve, reject) => {
      const end = (): void => reject(new Error('aborted'));
      if (signal.aborted) end();
      else signal.addEventListener('abort', end);
    });
  },
}));
const { Subscription } = await import('./subscription.js');

/** The client of one connection, which the server accepts, refuses, or leaves without an answer. */
class Client extends EventEmitter {
  status = 'wait';

  constructor(readonly answer: Promise<void>) {
    super();
  }

  connect(): Promise<void> {
    return this.answer;
  }

  subscribe(): Promise<void> {
    return Promise.resolve();
  }

  disconnect(): void {
    this.status = 'end';
    this.emit('end');
  }
}

it('The pauses between attempts to connect to Redis become longer until one succeeds, and then start again', async () => {
  const answers = ['refused', 'refused', 'refused', 'accepted', 'refused'];
  let client: Client | undefined;
  const duplicate = (): Client => {
    const answer = answers.shift();
    const silence = new Promise<void>(() => undefined);
    const refusal = answer === 'refused' ? Promise.reject(new Error(answer)) : silence;
    return (client = new Client(answer === 'accepted' ? Promise.resolve() : refusal));
  };
  const subscriber: StoreSubscriber = {
    subscribed: () => client?.disconnect(),
    interrupted: () => undefined,
    message: () => undefined,
  };
  const subscription = new Subscription({ duplicate } as unknown as Redis, 'channel', subscriber);
  await until('the last attempt', () => pauses.length === 5);
  await subscription.stop();
  expect(pauses).toEqual([50, 100, 200, 50, 100]);
});
