import { type DatabasePlace } from './database/database-place.js';
import { type ReferenceServiceOptions } from './reference-service-options.js';
import { type SignInLimitOptions } from './sign-in-limits/sign-in-limits.js';

/** Default of DATA_DIR, relative to the working directory. */
const DEFAULT_DATA_DIR = './data';

const SIGN_IN_LIMITS = {
  maxFailures: 'SIGN_IN_MAX_FAILURES',
  maxFailuresPerCaller: 'SIGN_IN_MAX_FAILURES_PER_CALLER',
  maxFailuresPerAccount: 'SIGN_IN_MAX_FAILURES_PER_ACCOUNT',
  windowMs: 'SIGN_IN_WINDOW_MS',
} as const satisfies Partial<Record<keyof SignInLimitOptions, string>>;

/** Returns the options of a standalone service from the environment variables that the README lists. */
export function optionsFromEnvironment(environment: NodeJS.ProcessEnv): ReferenceServiceOptions {
  const { PORT, HOST, SESSION_LIFETIME_MS, EXPOSE_DEMO_ACCOUNTS } = environment;
  return {
    port: numberFrom(PORT) ?? 3100,
    host: HOST ?? '127.0.0.1',
    ...databasePlaceFrom(environment),
    exposeDemoAccounts: EXPOSE_DEMO_ACCOUNTS === 'true',
    ...(SESSION_LIFETIME_MS === undefined
      ? {}
      : { sessionLifetimeMs: numberFrom(SESSION_LIFETIME_MS) ?? Number.NaN }),
    signInLimits: signInLimitsFrom(environment),
  };
}

function signInLimitsFrom(environment: NodeJS.ProcessEnv): SignInLimitOptions {
  return Object.fromEntries(
    Object.entries(SIGN_IN_LIMITS).flatMap(([option, variable]) => {
      const value = numberFrom(environment[variable]);
      return value === undefined ? [] : [[option, value]];
    }),
  );
}

/** Returns the place of the database: DATABASE_URL, otherwise DATA_DIR. */
export function databasePlaceFrom({ DATABASE_URL, DATA_DIR }: NodeJS.ProcessEnv): DatabasePlace {
  return { databaseUrl: DATABASE_URL, dataDir: DATA_DIR ?? DEFAULT_DATA_DIR };
}

/** Returns NaN for text that is not a number, so that the validation of the settings names the option. */
function numberFrom(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}
