import { describe, expect, it } from '@jest/globals';
import { Deadline } from '../client/deadline.js';
import { REJECTED, unavailable, type UnavailableReason, type Verdict } from '../contract/verdict.js';
import { withRetry } from './retry.js';

async function attemptsFor(verdicts: Verdict<string>[], maxAttempts = 2, deadline = new Deadline(60_000)): Promise<number> {
  let made = 0;
  await withRetry(() => Promise.resolve(verdicts[Math.min(made++, verdicts.length - 1)] ?? REJECTED), deadline, { maxAttempts });
  deadline.clear();
  return made;
}

describe('a check that fails', () => {
  it.each<[UnavailableReason, number]>([
    ['unreachable', 2],
    ['server_error', 2],
    ['timeout', 1],
    ['rate_limited', 1],
    ['malformed', 1],
    ['unexpected_status', 1],
    ['busy', 1],
    ['api_key', 1],
    ['shutting_down', 1],
  ])('as %s is attempted %i times', async (reason, attempts) => {
    expect(await attemptsFor([unavailable(reason)])).toBe(attempts);
  });

  it('is not repeated after a refusal, nor beyond its attempts, nor after its deadline', async () => {
    const over = new Deadline(60_000);
    over.end('timeout');
    expect(await attemptsFor([REJECTED], 5)).toBe(1);
    expect(await attemptsFor([unavailable('unreachable')], 3)).toBe(3);
    expect(await attemptsFor([unavailable('unreachable')], 3, over)).toBe(1);
    expect(await attemptsFor([unavailable('unreachable'), REJECTED], 3)).toBe(2);
  });
});
