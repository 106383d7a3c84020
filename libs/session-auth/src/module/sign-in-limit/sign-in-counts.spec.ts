import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CredentialsRejectedError, InvalidRequestError, TooManyAttemptsError } from '../../exceptions/session-exceptions.js';
import { SignInLimit } from './sign-in-limit.js';

const WINDOW_MS = 60_000;
const SETTINGS = { failures: 3, failuresPerClient: 5, windowMs: WINDOW_MS };
const HOME = '203.0.113.7';
const OFFICE = '198.51.100.9';

describe('the limit of sign-ins', () => {
  let limit: SignInLimit;
  let refused: (string | undefined)[];

  beforeEach(() => {
    jest.useFakeTimers();
    refused = [];
    limit = new SignInLimit(SETTINGS, (network) => void refused.push(network));
  });
  afterEach(() => void jest.useRealTimers());

  /** The error of a sign-in, or its kind. */
  const come = (signIn: () => Promise<{ readonly kind: string }>, username = 'ann', client: unknown = HOME): Promise<unknown> =>
    limit.run(username, client as string, signIn).then(
      ({ kind }) => kind,
      (error: unknown) => error,
    );
  const succeed = (username?: string, client?: unknown): Promise<unknown> =>
    come(() => Promise.resolve({ kind: 'signed-in' }), username, client);

  /** The status codes of sign-ins with wrong credentials, one after the other. */
  async function fail(times: number, username = 'ann', client = HOME): Promise<unknown[]> {
    const statuses: unknown[] = [];
    for (let time = 0; time < times; time += 1) {
      const error = await come(() => Promise.reject(new CredentialsRejectedError()), username, client);
      statuses.push((error as { readonly statusCode: number }).statusCode);
    }
    return statuses;
  }

  it('refuses a user name from a client after its failures, and neither other names nor other clients', async () => {
    expect(await fail(4)).toEqual([401, 401, 401, 429]);
    expect(await succeed()).toBeInstanceOf(TooManyAttemptsError);
    expect([await succeed('bob'), await succeed('ann', OFFICE)]).toEqual(['signed-in', 'signed-in']);
  });

  it('refuses a client after its failures with any user names', async () => {
    expect([await fail(3, 'ann'), await fail(3, 'bob')]).toEqual([
      [401, 401, 401],
      [401, 401, 429],
    ]);
    expect(await succeed('carol')).toBeInstanceOf(TooManyAttemptsError);
    expect(await succeed('carol', OFFICE)).toBe('signed-in');
  });

  it('reports each refusal with the network of the client, if it has one', async () => {
    await fail(4);
    expect(refused).toEqual([HOME]);
    await fail(5, 'ann', '2001:db8:1:2::1');
    await fail(4, 'ann', 'worker-7');
    expect(refused).toEqual([HOME, '2001:db8:1:2::/64', '2001:db8:1:2::/64', undefined]);
  });

  it('refuses until the first failure no longer counts, and says in how many seconds, rounded up', async () => {
    await fail(1);
    jest.advanceTimersByTime(500);
    await fail(2);
    expect(await succeed()).toMatchObject({ retryAfterSeconds: 60 });
    jest.advanceTimersByTime(500);
    expect(await succeed()).toMatchObject({ retryAfterSeconds: 59 });
    jest.advanceTimersByTime(WINDOW_MS - 1_001);
    expect(await succeed()).toMatchObject({ retryAfterSeconds: 1 });
    jest.advanceTimersByTime(1);
    expect(await succeed()).toBe('signed-in');
  });

  it('says the longer time of the client and of its user name', async () => {
    await fail(2, 'bob');
    jest.advanceTimersByTime(10_000);
    await fail(3);
    expect([await succeed(), await succeed('bob')]).toMatchObject([{ retryAfterSeconds: 60 }, { retryAfterSeconds: 50 }]);
  });

  it('counts sign-ins in flight, and refuses others for a second', async () => {
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const first = [1, 2, 3].map(() => come(() => answered.then(() => ({ kind: 'signed-in' }))));
    expect(await succeed()).toMatchObject({ statusCode: 429, retryAfterSeconds: 1 });
    answer();
    expect([await Promise.all(first), await succeed()]).toEqual([['signed-in', 'signed-in', 'signed-in'], 'signed-in']);
  });

  it('clears the failures of a user name after a success, not those of its client, and not after another answer', async () => {
    await fail(2);
    expect(await come(() => Promise.resolve({ kind: 'accepted' }))).toBe('accepted');
    expect(await fail(2)).toEqual([401, 429]);

    await fail(2, 'bob', OFFICE);
    expect(await succeed('bob', OFFICE)).toBe('signed-in');
    expect(await fail(4, 'bob', OFFICE)).toEqual([401, 401, 401, 429]);
    expect(await succeed('carol', OFFICE)).toBeInstanceOf(TooManyAttemptsError);
  });

  it('counts no failure but that of wrong credentials', async () => {
    const outage = new Error('outage');
    for (let time = 0; time < 9; time += 1) expect(await come(() => Promise.reject(outage))).toBe(outage);
    expect([await succeed(), limit.size]).toEqual(['signed-in', 0]);
  });

  it('counts clients without an address by their text', async () => {
    await fail(3, 'ann', 'worker-7');
    expect(await succeed('ann', 'worker-7')).toBeInstanceOf(TooManyAttemptsError);
    expect([await succeed('ann', 'worker-8'), await succeed('ann', HOME)]).toEqual(['signed-in', 'signed-in']);
  });

  it.each([undefined, null, 7, '', 'x'.repeat(257), ['203.0.113.7']])('refuses a sign-in without a client, such as %j', async (client) => {
    let callCount = 0;
    const signIn = (): Promise<{ kind: string }> => Promise.resolve({ kind: `call ${(callCount += 1)}` });
    const error = await limit.run('ann', client as string, signIn).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect((error as Error).message).toMatch(/^With signInLimit, a sign-in needs its client, of 1 to 256 characters: /);
    expect([callCount, limit.size]).toEqual([0, 0]);
  });

  it('admits clients of 1 to 256 characters', async () => {
    expect([await succeed('ann', 'x'), await succeed('ann', 'x'.repeat(256))]).toEqual(['signed-in', 'signed-in']);
  });

  it.each([
    ['ann', 'ANN'],
    ['ann', '  ann\t'],
    ['ann', 'ａｎｎ'],
    ['ann', `${' '.repeat(2_000)}ann`],
    ['straße', 'STRASSE'],
    ['οδυσσεύς', 'ΟΔΥΣΣΕΎΣ'],
    ['οδυσσεύσ', 'ΟΔΥΣΣΕΎΣ'],
    ['i\u0307nci', '\u0130NCI'],
    [`${'a'.repeat(1_024)}b`, `${'a'.repeat(1_024)}c`],
  ])('has one count for the spellings %j and %j', async (name, other) => {
    await fail(3, name);
    expect(await succeed(other)).toBeInstanceOf(TooManyAttemptsError);
  });

  it.each([
    ['ann', 'anne'],
    ['ann', 'a nn'],
    [`${'a'.repeat(1_023)}b`, `${'a'.repeat(1_023)}c`],
  ])('has a count each for the names %j and %j', async (name, other) => {
    await fail(3, name);
    expect(await succeed(other)).toBe('signed-in');
  });

  it('has entries for each failure and for each sign-in in flight, until they are reset', async () => {
    await fail(1);
    await fail(1, 'bob');
    expect(limit.size).toBe(3);
    let size = 0;
    await come(() => Promise.resolve({ kind: `${(size = limit.size)}` }), 'carol', OFFICE);
    expect([size, limit.size]).toEqual([5, 3]);
    limit.reset();
    expect(limit.size).toBe(0);
  });
});

describe('without a limit of sign-ins', () => {
  it('every sign-in is run, also without a client', async () => {
    const limit = new SignInLimit(undefined, () => undefined);
    const rejected = new CredentialsRejectedError();
    for (let time = 0; time < 9; time += 1)
      await expect(limit.run('ann', undefined, () => Promise.reject(rejected))).rejects.toBe(rejected);
    limit.reset();
    expect([await limit.run('ann', undefined, () => Promise.resolve({ kind: 'signed-in' })), limit.size]).toEqual([
      { kind: 'signed-in' },
      0,
    ]);
  });
});
