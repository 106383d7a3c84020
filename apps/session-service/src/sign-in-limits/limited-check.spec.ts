import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { HashQueue } from '../passwords/hash-queue.js';
import { LimitedCheck } from './limited-check.js';
import { MonotonicClock } from './monotonic-clock.js';
import { describeAttempt } from './sign-in-attempt.js';
import { SignInLimiter } from './sign-in-limiter.js';
import { SignInLimits } from './sign-in-limits.js';
import { TooManyFailuresError } from './too-many-failures.error.js';

class HandClock extends MonotonicClock {
  time = 0;

  now(): number {
    return this.time;
  }
}

const WINDOW_MS = 900_000;
const HOME = '192.0.2.1';
const OFFICE = '192.0.2.2';
const attacker = (number: number): string => `198.51.${Math.floor(number / 250)}.${number % 250}`;

/** A service with one account, ann's, behind the limits. Counts the hashes, and computes none. */
class Service {
  readonly clock = new HandClock();
  readonly limiter = new SignInLimiter(new SignInLimits(), this.clock);
  private readonly limited = new LimitedCheck(this.limiter, this.clock);
  private readonly queue = new HashQueue();
  hashed = 0;
  hashMs = 0;

  constructor(private readonly accounts: readonly string[] = ['ann']) {}

  /** The status of the response, and the seconds of Retry-After with 429. */
  async signIn(username: string, password: string, address: string): Promise<string> {
    const isRight = (): boolean => this.accounts.includes(username) && password === 'right';
    try {
      const fits = await this.limited.run(describeAttempt(username, address), (aroundHash) =>
        this.queue.run(() =>
          aroundHash(() => {
            this.hashed += 1;
            this.clock.time += this.hashMs;
            return Promise.resolve(isRight());
          }),
        ),
      );
      return fits ? '200' : '401';
    } catch (error) {
      if (error instanceof TooManyFailuresError) return `429 ${error.retryAfterSeconds}`;
      throw error;
    }
  }

  async guess(username: string, times: number, address: (time: number) => string): Promise<string[]> {
    const answers: string[] = [];
    for (let time = 0; time < times; time += 1)
      answers.push(await this.signIn(username, 'wrong', address(time)));
    return answers;
  }
}

describe('LimitedCheck', () => {
  let service: Service;

  beforeEach(() => {
    Logger.overrideLogger(false);
    service = new Service();
  });

  it('hashes 10 guesses at one account from one caller, and one more in every 90 seconds', async () => {
    const answers = await service.guess('ann', 100, () => OFFICE);
    expect(answers).toEqual([...Array<string>(10).fill('401'), ...Array<string>(90).fill('429 90')]);
    expect(service.hashed).toBe(10);

    service.clock.time += 90_000;
    expect(await service.guess('ann', 3, () => OFFICE)).toEqual(['401', '429 90', '429 90']);
    service.clock.time += WINDOW_MS;
    expect(await service.guess('ann', 11, () => OFFICE)).toEqual([
      ...Array<string>(10).fill('401'),
      '429 90',
    ]);
  });

  it('hashes at most one guess more when all of them come at once, and refuses no right password for that', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => service.signIn('ann', 'right', OFFICE)),
    );
    expect(answers).toEqual(Array(100).fill('200'));
    service.hashed = 0;
    await Promise.all(Array.from({ length: 100 }, () => service.signIn('bob', 'wrong', OFFICE)));
    expect([10, 11]).toContain(service.hashed);
  });

  it('refuses the right password too when the pair is beyond its limit', async () => {
    await service.guess('ann', 10, () => OFFICE);
    expect(await service.signIn('ann', 'right', OFFICE)).toBe('429 90');
  });

  it('resets the count of a pair that has signed in', async () => {
    for (let round = 0; round < 5; round += 1) {
      expect(await service.guess('ann', 9, () => OFFICE)).toEqual(Array(9).fill('401'));
      expect(await service.signIn('ann', 'right', OFFICE)).toBe('200');
    }
  });

  it('counts no check that could not be made', async () => {
    const limited = new LimitedCheck(service.limiter, service.clock);
    const failing = (): Promise<boolean> => Promise.reject(new Error('no database'));
    for (let time = 0; time < 50; time += 1)
      await expect(limited.run(describeAttempt('ann', OFFICE), failing)).rejects.toThrow('no database');
    expect(await service.signIn('ann', 'wrong', OFFICE)).toBe('401');
  });

  describe('with an account under attack from many callers', () => {
    it('lets the owner in from a caller where she has signed in before, after wrong passwords too', async () => {
      await service.signIn('ann', 'right', HOME);
      await service.guess('ann', 5_000, attacker);
      await service.guess('ann', 9, () => HOME);
      expect(await service.signIn('ann', 'right', HOME)).toBe('200');
    });

    it('lets the owner in from a new caller', async () => {
      await service.guess('ann', 5_000, attacker);
      expect(await service.guess('ann', 2, () => OFFICE)).toEqual(['401', '401']);
      expect(await service.signIn('ann', 'right', OFFICE)).toBe('200');
    });

    it('gives each further caller 3 guesses, and not 10', async () => {
      await service.guess('ann', 100, attacker);
      expect(await service.guess('ann', 5, () => OFFICE)).toEqual([
        '401',
        '401',
        '401',
        '429 300',
        '429 300',
      ]);
    });
  });

  describe('with a caller at which guesses at many accounts come in', () => {
    const spray = async (names: number): Promise<void> => {
      for (let name = 0; name < names; name += 1) await service.signIn(`user-${name}`, 'wrong', OFFICE);
    };

    it('hashes 500 of the guesses, and one more every 1.8 seconds', async () => {
      await spray(2_000);
      expect(service.hashed).toBe(500);
      service.clock.time += 18_000;
      await spray(2_000);
      expect(service.hashed).toBe(510);
    });

    it('lets those in who have signed in there before, and at other callers all', async () => {
      await service.signIn('ann', 'right', OFFICE);
      await spray(2_000);
      expect(await service.signIn('ann', 'right', OFFICE)).toBe('200');
      expect(await new Service().signIn('ann', 'right', HOME)).toBe('200');
    });

    it('is not reset by an account of the attacker that signs in now and then', async () => {
      service = new Service(['mallory']);
      for (let name = 0; name < 2_000; name += 1) {
        await service.signIn(`user-${name}`, 'wrong', OFFICE);
        if (name % 5 === 0) await service.signIn('mallory', 'right', OFFICE);
      }
      expect(service.hashed).toBe(500 + 400);
    });
  });

  it('answers wrong passwords alike whether the account exists, has signed in, or neither', async () => {
    const [familiar, known, unknown] = [new Service(), new Service(), new Service([])];
    for (let caller = 0; caller < 8; caller += 1) await familiar.signIn('ann', 'right', attacker(caller));
    const answersOf = async (one: Service): Promise<string[]> => [
      ...(await one.guess('ann', 200, attacker)),
      ...(await one.guess('ann', 120, (time) => attacker(time % 8))),
    ];
    const answers = await answersOf(unknown);
    expect(new Set(answers).size).toBeGreaterThan(1);
    expect(await answersOf(known)).toEqual(answers);
    expect(await answersOf(familiar)).toEqual(answers);
  });

  it('refuses no faster than it checks where those pass who have signed in before', async () => {
    service.hashMs = 40;
    await service.guess('ann', 100, attacker);
    await service.guess('ann', 3, () => OFFICE);
    jest.useFakeTimers();
    try {
      const refused = service.signIn('ann', 'wrong', OFFICE);
      const answers: string[] = [];
      void refused.then((answer) => answers.push(answer));
      await jest.advanceTimersByTimeAsync(39);
      expect(answers).toEqual([]);
      await jest.advanceTimersByTimeAsync(1);
      expect(answers).toEqual(['429 300']);
    } finally {
      jest.useRealTimers();
    }
  });

  it('keeps a bounded number of entries, for any names and addresses', () => {
    for (let name = 0; name < 100_000; name += 1) {
      const attempt = describeAttempt(
        `${name}${'x'.repeat(100)}`,
        `2001:db8:${(name >> 16).toString(16)}:${(name & 0xffff).toString(16)}::1`,
      );
      service.limiter.fail(attempt, service.limiter.admissionOf(attempt));
      service.limiter.succeed(describeAttempt(`user-${name}`, HOME));
    }
    expect(service.limiter.size).toBe(5 * 50_000);
    const one = describeAttempt('ann', OFFICE);
    expect(Object.values(one).every((key: string) => key.length <= 64 + 1 + 24)).toBe(true);
  });
});
