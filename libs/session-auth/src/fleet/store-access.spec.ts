import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { SessionStore } from '../contract/session-store.js';
import { StoreAccess } from './store-access.js';

const TIMEOUT_MS = 50;
const SETTINGS = {
  store: {} as SessionStore,
  secrets: ['a secret'],
  scope: 'scope',
  timeoutMs: TIMEOUT_MS,
} as const;
const fails = (): Promise<string> => Promise.reject(new Error('down'));
const works = (): Promise<string> => Promise.resolve('value');

function accessWith() {
  const failures = { count: 0 };
  return {
    failures,
    access: new StoreAccess(SETTINGS, (isFailed) => {
      if (isFailed) failures.count += 1;
    }),
  };
}

/** Fails until calls are paused. */
async function paused() {
  const trial = accessWith();
  for (let call = 0; call < 3; call += 1) await trial.access.try(fails);
  return trial;
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('a call to a store', () => {
  it('has its result, and leaves no timer', async () => {
    const { access, failures } = accessWith();
    expect([await access.try(works), await access.insist(works)]).toEqual(['value', 'value']);
    expect([failures.count, jest.getTimerCount()]).toEqual([0, 0]);
  });

  it('has no result if it rejects, throws or takes too long, and each failure is reported', async () => {
    const { access, failures } = accessWith();
    const throws = (): Promise<string> => {
      throw new Error('of the store');
    };
    const hangs = access.insist(() => new Promise<string>(() => undefined));
    await jest.advanceTimersByTimeAsync(TIMEOUT_MS + 1);
    expect([await access.insist(fails), await access.insist(throws), await hangs]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(failures.count).toBe(3);
  });

  it('ignores what arrives late', async () => {
    const { access, failures } = accessWith();
    const settles = (how: 'resolve' | 'reject') =>
      access.insist(
        () =>
          new Promise<string>((resolve, reject) =>
            setTimeout(() => (how === 'resolve' ? resolve('late value') : reject(new Error('late'))), 60),
          ),
      );
    const late = [settles('resolve'), settles('reject')];
    await jest.advanceTimersByTimeAsync(TIMEOUT_MS + 20);
    expect([await Promise.all(late), failures.count]).toEqual([[undefined, undefined], 2]);
  });

  it('is not made beyond 8192 calls in flight', async () => {
    const { access, failures } = accessWith();
    const held: ((value: string) => void)[] = [];
    const holds = (): Promise<string> => new Promise((resolve) => void held.push(resolve));
    const calls = Array.from({ length: 8_193 }, () => access.insist(holds));
    expect([held.length, await calls.at(-1)]).toEqual([8_192, undefined]);
    for (const answer of held) answer('late');
    await Promise.all(calls);
    expect([await access.insist(works), failures.count]).toEqual(['value', 0]);
  });
});

describe('a failing store', () => {
  it('is not called during a pause, unless the call must be made', async () => {
    const { access } = await paused();
    expect([await access.try(works), await access.insist(works)]).toEqual([undefined, 'value']);
    await jest.advanceTimersByTimeAsync(499);
    expect(await access.try(works)).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    expect([await access.try(works), await access.try(works)]).toEqual(['value', 'value']);
  });

  it('gets at most 8192 calls during a pause that it does not answer', async () => {
    const { access } = await paused();
    const hangs = jest.fn(() => new Promise<string>(() => undefined));
    for (let call = 0; call < 8_192; call += 1) void access.insist(hangs);
    await jest.advanceTimersByTimeAsync(TIMEOUT_MS + 1);
    void access.insist(hangs);
    expect(hangs).toHaveBeenCalledTimes(8_192);
    await jest.advanceTimersByTimeAsync(500);
    expect(await access.insist(works)).toBe('value');
  });

  it('is paused for longer when the next call fails too', async () => {
    const { access } = await paused();
    await jest.advanceTimersByTimeAsync(500);
    await access.try(fails);
    await jest.advanceTimersByTimeAsync(999);
    expect(await access.try(works)).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    expect(await access.try(works)).toBe('value');
  });
});

describe('a process that was busy', () => {
  it('uses an answer that arrived meanwhile, and blames the store for none that did not [Q20]', async () => {
    const { access, failures } = accessWith();
    // Read in the turn in which the time limits of the calls have passed.
    const answer = new Promise<string>((resolve) =>
      setTimeout(() => setImmediate(resolve, 'value'), TIMEOUT_MS),
    );
    const arrived = access.try(() => answer);
    const never = Array.from({ length: 5 }, () => access.try(() => new Promise<string>(() => undefined)));
    const late = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 2 * TIMEOUT_MS);
    await jest.advanceTimersByTimeAsync(TIMEOUT_MS + 1);
    expect([await arrived, ...(await Promise.all(never))]).toEqual(['value', ...never.map(() => undefined)]);
    late.mockRestore();
    expect([failures.count, await access.try(works)]).toEqual([0, 'value']);
  });
});

describe('a store of which a part is dead', () => {
  it('is paused although most calls work [Q15]', async () => {
    const { access } = accessWith();
    for (let check = 0; check < 2; check += 1)
      await Promise.all([...Array.from({ length: 7 }, () => access.try(works)), access.try(fails)]);
    expect(await access.try(works)).toBeUndefined();
  });
});
