import type { Spread } from './spread.js';

/** What a figure should come to; its median decides. */
export interface Target {
  readonly text: string;
  isReached(value: Spread): boolean;
}

export const atLeast = (limit: number): Target => ({ text: `at least ${limit}`, isReached: ({ median }) => median >= limit });

export const atMost = (limit: number): Target => ({ text: `at most ${limit}`, isReached: ({ median }) => median <= limit });
