import { integerOption, rejectUnknownOptions, requiredInteger } from './option-checks.js';
import type { SessionAuthOptions } from '../options/options.js';
import { DEFAULTS } from './defaults.js';

/** The validated option `signInLimit`. */
export interface SignInLimitSettings {
  readonly failures: number;
  readonly failuresPerClient: number;
  readonly windowMs: number;
}

/** The validated options of sign-ins. */
export interface SignInSettings {
  readonly maxSignIns: number;
  readonly signInLimit: SignInLimitSettings | undefined;
}

/** Many users may share an address. */
const FAILURES_PER_CLIENT = 10;
const MAX_FAILURES = 100;
/** A day. */
const MAX_WINDOW_MS = 86_400_000;

/** Validates the options of sign-ins. @throws InvalidConfigurationError naming the first invalid option */
export function readSignIns({ maxSignIns, signInLimit }: SessionAuthOptions): SignInSettings {
  return {
    maxSignIns: integerOption('maxSignIns', maxSignIns, { min: 1, max: 10_000, fallback: DEFAULTS.maxSignIns }),
    signInLimit: readSignInLimit(signInLimit),
  };
}

function readSignInLimit(limit: SessionAuthOptions['signInLimit'] = DEFAULTS.signInLimit): SignInLimitSettings | undefined {
  if (limit === false) return undefined;
  rejectUnknownOptions('signInLimit', limit, ['failures', 'windowMs', 'failuresPerClient']);
  const failures = requiredInteger('signInLimit.failures', limit.failures, { min: 1, max: MAX_FAILURES });
  return {
    failures,
    failuresPerClient: integerOption('signInLimit.failuresPerClient', limit.failuresPerClient, {
      min: failures,
      max: MAX_FAILURES * FAILURES_PER_CLIENT,
      fallback: failures * FAILURES_PER_CLIENT,
    }),
    windowMs: requiredInteger('signInLimit.windowMs', limit.windowMs, { min: 1, max: MAX_WINDOW_MS }),
  };
}
