import type { Spread } from './spread.js';

/** The target of a figure, compared with its median. */
export interface Target {
  readonly text: string;
  /** Whether the figure by the application's processor time decides. */
  readonly byCpu?: true;
  isReached(value: Spread): boolean;
}

export const atLeast = (limit: number): Target => ({
  text: `at least ${limit}`,
  isReached: ({ median }) => median >= limit,
});

export const atMost = (limit: number): Target => ({
  text: `at most ${limit}`,
  isReached: ({ median }) => median <= limit,
});

export const atLeastByCpu = (limit: number): Target => ({
  ...atLeast(limit),
  text: `at least ${limit} by CPU`,
  byCpu: true,
});
