import { describe, expect, it } from '@jest/globals';
import { readRetryAfterSeconds } from './reply.js';

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');

  it.each([
    ['7', 7],
    [' 7 ', 7],
    ['0', 0],
    ['120', 120],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30],
    ['', undefined],
    ['  ', undefined],
    ['x5', undefined],
    ['5 minutes', undefined],
    ['soon', undefined],
    [undefined, undefined],
    [['1', '2'], undefined],
  ])('of %p is %p seconds', (value, seconds) => {
    expect(readRetryAfterSeconds(value, now)).toBe(seconds);
  });
});
