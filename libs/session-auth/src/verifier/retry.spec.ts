import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Deadline } from '../client/deadline.js';
import { UNAUTHENTICATED, unavailable, type UnavailableReason, type Verdict } from '../contract/outcome.js';
import { Pace } from './pace.js';
import { Retry, RetryBudget } from './retry.js';

async function attemptsFor(
  verdicts: Verdict<string>[],
  maxAttempts = 2,
  deadline = new Deadline(60_000),
  budget = new RetryBudget(),
  pace = new Pace(490),
): Promise<number> {
  let made = 0;
  const attempt = (): Promise<Verdict<string>> =>
    Promise.resolve(verdicts[Math.min(made++, verdicts.length - 1)] ?? UNAUTHENTICATED);
  await new Retry({ maxAttempts }, budget, pace).run(attempt, deadline);
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
    ['circuit_open', 1],
    ['api_key', 1],
    ['shutting_down', 1],
  ])('as %s is attempted %i times', async (reason, attempts) => {
    expect(await attemptsFor([unavailable(reason)])).toBe(attempts);
  });

  it('is not repeated after a refusal, nor beyond its attempts, nor after its deadline', async () => {
    const over = new Deadline(60_000);
    over.end('timeout');
    expect(await attemptsFor([UNAUTHENTICATED], 5)).toBe(1);
    expect(await attemptsFor([unavailable('unreachable')], 3)).toBe(3);
    expect(await attemptsFor([unavailable('unreachable')], 3, over)).toBe(1);
    expect(await attemptsFor([unavailable('unreachable'), UNAUTHENTICATED], 3)).toBe(2);
  });

  it('is repeated for less than a tenth of all checks in a total outage', async () => {
    const budget = new RetryBudget();
    let made = 0;
    for (let check = 0; check < 1_000; check += 1)
      made += await attemptsFor([unavailable('unreachable')], 2, undefined, budget);
    expect(made).toBeLessThanOrEqual(1_100);
    expect(made).toBeGreaterThan(1_000);
  });

  it('on a connection that the service had closed is repeated immediately, without using the budget', async () => {
    const budget = new RetryBudget();
    while (budget.spend());
    expect(
      await attemptsFor(
        [{ ...unavailable('unreachable'), staleConnection: true }, UNAUTHENTICATED],
        2,
        undefined,
        budget,
      ),
    ).toBe(2);
    expect(await attemptsFor([unavailable('unreachable'), UNAUTHENTICATED], 2, undefined, budget)).toBe(1);
  });
});

describe('the pause before another attempt', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('is skipped if it would outlast the deadline, and then uses no budget', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.99);
    const [deadline, budget] = [new Deadline(60_000), new RetryBudget()];
    jest.spyOn(deadline, 'remainingMs', 'get').mockReturnValue(49);
    const spent = jest.spyOn(budget, 'spend');
    expect(await attemptsFor([unavailable('unreachable')], 2, deadline, budget)).toBe(1);
    expect(spent).not.toHaveBeenCalled();
  });

  it('is skipped if a usual call after it would outlast the deadline', async () => {
    const [deadline, pace] = [new Deadline(60_000), new Pace(3_000)];
    jest.spyOn(deadline, 'remainingMs', 'get').mockReturnValue(850);
    expect(await attemptsFor([unavailable('unreachable')], 2, deadline, undefined, pace)).toBe(2);
    pace.record(450);
    expect(await attemptsFor([unavailable('unreachable')], 2, deadline, undefined, pace)).toBe(1);
  });

  it('does not keep the process alive', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.99);
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const before = timers();
    const attempts = attemptsFor([unavailable('unreachable')]);
    await new Promise(setImmediate);
    expect(timers()).toBeLessThanOrEqual(before);
    const keptAlive = setTimeout(() => undefined, 60_000);
    expect(await attempts).toBe(2);
    clearTimeout(keptAlive);
  });

  it('is at most 50 ms, and doubles with each further attempt', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.99);
    const startedAt = performance.now();
    expect(await attemptsFor([unavailable('unreachable')], 3)).toBe(3);
    expect(performance.now() - startedAt).toBeGreaterThan(140);
  });

  it('is skipped, with the attempt, after the deadline, also on a connection that the service had closed', async () => {
    const over = new Deadline(60_000);
    over.end('timeout');
    expect(await attemptsFor([{ ...unavailable('unreachable'), staleConnection: true }], 2, over)).toBe(1);
  });
});

describe('checks that succeed', () => {
  it('earn retries for checks that fail', async () => {
    const budget = new RetryBudget();
    while (budget.spend());
    for (let check = 0; check < 13; check += 1) await attemptsFor([UNAUTHENTICATED], 2, undefined, budget);
    expect(await attemptsFor([unavailable('unreachable')], 2, undefined, budget)).toBe(2);
  });
});
