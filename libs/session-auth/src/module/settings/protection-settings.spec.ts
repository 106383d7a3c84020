import { describe, expect, it } from '@jest/globals';
import { readSettings } from './settings.js';

const BREAKER = { windowMs: 10_000, minimumCalls: 20, failureRatio: 0.5, pauseMs: 1_000, maxPauseMs: 30_000 };

function read(options: object) {
  const required = { baseUrl: 'https://sessions.example.com', apiKey: 'key' };
  return readSettings({ ...required, ...options });
}

describe('the option retry', () => {
  it('turns retries off if it is false', () => {
    expect(read({ retry: false }).retry.maxAttempts).toBe(1);
  });

  it('has its default if it is undefined or empty', () => {
    for (const retry of [undefined, {}, { maxAttempts: undefined }])
      expect(read({ retry }).retry.maxAttempts).toBe(2);
  });
});

describe('the option breaker', () => {
  it('turns the breaker off if it is false', () => {
    expect(read({ breaker: false })).toHaveProperty('breaker', undefined);
  });

  it('has its defaults where it is empty', () => {
    expect(read({ breaker: {} }).breaker).toEqual(BREAKER);
    expect(read({ breaker: { failureRatio: undefined, windowMs: 20 } }).breaker).toEqual({
      ...BREAKER,
      windowMs: 20,
    });
  });

  it.each([[Number.MIN_VALUE], [0.25], [1]])(
    'may open at any ratio of failures above 0 and up to 1: %p',
    (failureRatio) => {
      expect(read({ breaker: { failureRatio } }).breaker?.failureRatio).toBe(failureRatio);
    },
  );

  it.each([[0], [-0.5], [1.000_001], [2], [NaN], [Infinity], ['0.5'], ['1'], [null], [true], [[0.5]], [1n]])(
    'stops the application if the ratio is %p',
    (failureRatio) => {
      const remedy = 'Set it within that range, or leave it out for 0.5';
      const message = `SessionAuthModule: breaker.failureRatio must be a number above 0 and up to 1. ${remedy}.`;
      expect(() => read({ breaker: { failureRatio } })).toThrow(new Error(message));
    },
  );
});
