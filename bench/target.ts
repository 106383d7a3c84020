import type { Estimate } from './estimate.js';

/** The target of a figure, compared with its median. */
export interface Target {
  readonly text: string;
  isReached(value: Estimate): boolean;
}

export const atLeast = (limit: number): Target => ({
  text: `at least ${limit}`,
  isReached: ({ median }) => median >= limit,
});

export const atMost = (limit: number): Target => ({
  text: `at most ${limit}`,
  isReached: ({ median }) => median <= limit,
});
