import { describe, expect, it } from '@jest/globals';
import { FORBIDDEN, UNAUTHENTICATED, unavailable } from './outcome.js';

describe('a verdict that everyone shares', () => {
  it.each([
    [UNAUTHENTICATED, 'unauthenticated'],
    [FORBIDDEN, 'forbidden'],
  ])('%j can be changed by nobody', (verdict, kind) => {
    expect(verdict).toStrictEqual({ kind });
    expect(Object.isFrozen(verdict)).toBe(true);
  });
});

describe('an outage', () => {
  it.each([
    [undefined, 5],
    [-1, 1],
    [0, 1],
    [1, 1],
    [1.1, 2],
    [119.5, 120],
    [120, 120],
    [121, 120],
    [Infinity, 120],
  ])('that asks for a pause of %p seconds makes callers wait for %i', (asked, seconds) => {
    expect(unavailable('busy', asked)).toStrictEqual({ kind: 'unavailable', reason: 'busy', retryAfterSeconds: seconds });
  });
});
