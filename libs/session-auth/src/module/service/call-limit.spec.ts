import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Deadlines, type Deadline } from '../../client/deadline.js';
import { SessionServiceUnavailableError } from '../../exceptions/session-exceptions.js';
import { CallLimit } from './call-limit.js';

const TIMEOUT_MS = 5_000;

/** A call that lasts until the test ends it. */
class OpenCall {
  deadline: Deadline | undefined;
  resolve!: (result: string) => void;
  reject!: (error: Error) => void;
  readonly work = (deadline: Deadline): Promise<string> => {
    this.deadline = deadline;
    return new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
  };
}

describe('a limit of calls', () => {
  let limit: CallLimit;
  beforeEach(() => {
    jest.useFakeTimers();
    limit = new CallLimit(new Deadlines(), 2, TIMEOUT_MS);
  });
  afterEach(() => void jest.useRealTimers());

  function begin(signal?: AbortSignal): OpenCall & { readonly result: Promise<unknown> } {
    const call = new OpenCall();
    const result = limit.run(signal, call.work).catch((error: unknown) => error);
    return Object.assign(call, { result });
  }
  const resultOfOne = (): Promise<unknown> =>
    limit.run(undefined, () => Promise.resolve('done')).catch((error: unknown) => error);
  const BUSY = expect.objectContaining({ reason: 'busy', retryAfterSeconds: 1 }) as unknown;

  it('has the result of each call within it, and leaves no timer behind', async () => {
    const calls = [begin(), begin()];
    expect(jest.getTimerCount()).toBe(2);
    calls[0]?.resolve('first');
    calls[1]?.reject(new Error('second'));
    expect(await Promise.all(calls.map(({ result }) => result))).toEqual(['first', new Error('second')]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('rejects the calls beyond it at once, without making them', async () => {
    const calls = [begin(), begin()];
    const refused = begin();
    expect(await refused.result).toBeInstanceOf(SessionServiceUnavailableError);
    expect([await refused.result, refused.deadline]).toEqual([BUSY, undefined]);
    for (const call of calls) call.resolve('done');
    await Promise.all(calls.map(({ result }) => result));
  });

  it.each<[string, (call: OpenCall) => void]>([
    ['has a result', (call) => call.resolve('done')],
    ['fails', (call) => call.reject(new Error('failed'))],
  ])('admits a call after another %s', async (_end, end) => {
    const calls = [begin(), begin()];
    for (const call of calls) {
      expect(await resultOfOne()).toEqual(BUSY);
      end(call);
      await call.result;
      expect(await resultOfOne()).toBe('done');
      begin();
    }
    expect(await resultOfOne()).toEqual(BUSY);
  });

  it('admits a call after another has thrown', async () => {
    const broken = (): never => {
      throw new TypeError('a bug');
    };
    for (let time = 0; time < 3; time += 1)
      await expect(limit.run(undefined, broken)).rejects.toThrow('a bug');
    expect([await resultOfOne(), jest.getTimerCount()]).toEqual(['done', 0]);
  });

  it('gives each call its time', () => {
    const { deadline } = begin();
    jest.advanceTimersByTime(TIMEOUT_MS - 1);
    expect(deadline?.ended).toBeUndefined();
    jest.advanceTimersByTime(1);
    expect(deadline?.ended).toBe('timeout');
  });

  it('makes no call whose signal has aborted already', async () => {
    const reason = new Error('the client has left');
    const call = begin(AbortSignal.abort(reason));
    expect([await call.result, call.deadline, jest.getTimerCount()]).toEqual([reason, undefined, 0]);
  });

  it('ends a call whose signal aborts, and admits the next one', async () => {
    const [controller, reason] = [new AbortController(), new Error('the client has left')];
    const [aborted] = [begin(controller.signal), begin()];
    expect(aborted.deadline?.ended).toBeUndefined();
    controller.abort(reason);
    expect(aborted.deadline?.ended).toBe('timeout');
    expect([await aborted.result, await resultOfOne()]).toEqual([reason, 'done']);
  });

  it('leaves a call alone whose signal aborts later', async () => {
    const controller = new AbortController();
    const call = begin(controller.signal);
    call.resolve('done');
    expect(await call.result).toBe('done');
    controller.abort();
    expect(call.deadline?.ended).toBeUndefined();
  });
});
