import { describe, expect, it } from '@jest/globals';
import { RetryBudget } from './retry.js';

function drained(budget: RetryBudget): number {
  let retries = 0;
  while (retries < 1_000 && budget.spend()) retries += 1;
  return retries;
}

function earn(budget: RetryBudget, attempts: number): void {
  for (let made = 0; made < attempts; made += 1) budget.earn();
}

describe('the budget of retries', () => {
  it('has ten retries at startup', () => {
    expect(drained(new RetryBudget())).toBe(10);
  });

  it('earns less than one retry per ten first attempts', () => {
    const budget = new RetryBudget();
    drained(budget);
    earn(budget, 12);
    expect(drained(budget)).toBe(0);
    earn(budget, 1);
    expect(drained(budget)).toBe(1);
    earn(budget, 100);
    expect(drained(budget)).toBe(8);
  });

  it('never exceeds ten retries', () => {
    const budget = new RetryBudget();
    earn(budget, 10_000);
    expect(drained(budget)).toBe(10);
  });
});
