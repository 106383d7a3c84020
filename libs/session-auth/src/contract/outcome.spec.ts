import { describe, expect, it } from '@jest/globals';
import { FORBIDDEN, UNAUTHENTICATED, unavailable } from './outcome.js';

describe('a shared verdict', () => {
  it.each([
    [UNAUTHENTICATED, 'unauthenticated'],
    [FORBIDDEN, 'forbidden'],
  ])('%j is frozen', (verdict, kind) => {
    expect(verdict).toStrictEqual({ kind });
    expect(Object.isFrozen(verdict)).toBe(true);
  });
});

describe('an outage', () => {
  it.each([
    [undefined, 5],
    [-1, 1],
    [1, 1],
    [1.1, 2],
    [120, 120],
    [121, 120],
  ])('with a Retry-After of %p seconds has a retryAfterSeconds of %i', (asked, seconds) => {
    expect(unavailable('busy', asked)).toStrictEqual({
      kind: 'unavailable',
      reason: 'busy',
      retryAfterSeconds: seconds,
    });
  });
});
