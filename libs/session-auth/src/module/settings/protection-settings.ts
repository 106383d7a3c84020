import type { BreakerSettings } from '../../verifier/circuit-breaker.js';
import type { LaneSettings } from '../../verifier/lanes.js';
import { integerOption, rejectUnknownOptions, invalidOption } from './option-checks.js';
import type { SessionAuthOptions } from '../options/options.js';
import { DEFAULTS } from './defaults.js';

/** Maximum timeout of any call, in milliseconds. */
export const MAX_DURATION_MS = 300_000;

/**
 * Validates the options that bound a check. @throws InvalidConfigurationError naming the first invalid option
 */
export function readProtection({
  timeoutMs,
  retry,
  breaker,
  maxInFlight,
  maxQueued,
}: SessionAuthOptions): LaneSettings {
  if (retry !== undefined && retry !== false) rejectUnknownOptions('retry', retry, ['maxAttempts']);
  return {
    timeoutMs: integerOption('timeoutMs', timeoutMs, {
      min: 1,
      max: MAX_DURATION_MS,
      fallback: DEFAULTS.timeoutMs,
    }),
    maxAttempts:
      retry === false
        ? 1
        : integerOption('retry.maxAttempts', retry?.maxAttempts, {
            min: 1,
            max: 10,
            fallback: DEFAULTS.retry.maxAttempts,
          }),
    maxInFlight: integerOption('maxInFlight', maxInFlight, {
      min: 1,
      max: 10_000,
      fallback: DEFAULTS.maxInFlight,
    }),
    maxQueued: integerOption('maxQueued', maxQueued, { min: 0, max: 100_000, fallback: DEFAULTS.maxQueued }),
    breaker: breaker === false ? undefined : readBreaker(breaker),
  };
}

function readBreaker(breaker: Partial<BreakerSettings> = {}): BreakerSettings {
  rejectUnknownOptions('breaker', breaker, [
    'windowMs',
    'minimumCalls',
    'failureRatio',
    'pauseMs',
    'maxPauseMs',
  ]);
  const {
    windowMs,
    minimumCalls,
    failureRatio = DEFAULTS.breaker.failureRatio,
    pauseMs,
    maxPauseMs,
  } = breaker;
  if (typeof failureRatio !== 'number' || !(failureRatio > 0 && failureRatio <= 1)) {
    invalidOption(
      'breaker.failureRatio',
      'must be a number above 0 and up to 1',
      'Set it within that range, or leave it out for 0.5',
    );
  }
  const pause = integerOption('breaker.pauseMs', pauseMs, {
    min: 1,
    max: 120_000,
    fallback: DEFAULTS.breaker.pauseMs,
  });
  return {
    windowMs: integerOption('breaker.windowMs', windowMs, {
      min: 10,
      max: MAX_DURATION_MS,
      fallback: DEFAULTS.breaker.windowMs,
    }),
    minimumCalls: integerOption('breaker.minimumCalls', minimumCalls, {
      min: 1,
      max: 1_000_000,
      fallback: DEFAULTS.breaker.minimumCalls,
    }),
    failureRatio,
    pauseMs: pause,
    maxPauseMs: integerOption('breaker.maxPauseMs', maxPauseMs, {
      min: pause,
      max: 120_000,
      fallback: Math.max(pause, DEFAULTS.breaker.maxPauseMs),
    }),
  };
}
