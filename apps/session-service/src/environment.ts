import { type DatabasePlace } from './database/database-place.js';
import { type ReferenceServiceOptions } from './reference-service-options.js';
import { type SignInLimitOptions } from './sign-in-limits/sign-in-limits.js';

/** Default of DATA_DIR, seen from the working directory. */
const DEFAULT_DATA_DIR = './data';

const SIGN_IN_LIMITS = {
  maxFailures: 'SIGN_IN_MAX_FAILURES',
  maxFailuresPerCaller: 'SIGN_IN_MAX_FAILURES_PER_CALLER',
  maxFailuresPerAccount: 'SIGN_IN_MAX_FAILURES_PER_ACCOUNT',
  windowMs: 'SIGN_IN_WINDOW_MS',
} as const satisfies Partial<Record<keyof SignInLimitOptions, string>>;

/** The options of a service that runs alone, from the environment variables that the README lists. */
export function optionsFromEnvironment(environment: NodeJS.ProcessEnv): ReferenceServiceOptions {
  const { PORT, HOST, SESSION_LIFETIME_MS } = environment;
  return {
    port: numberFrom(PORT) ?? 3100,
    host: HOST ?? '127.0.0.1',
    ...databasePlaceFrom(environment),
    ...(SESSION_LIFETIME_MS === undefined ? {} : { sessionLifetimeMs: numberFrom(SESSION_LIFETIME_MS) ?? Number.NaN }),
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

/** The database that DATABASE_URL names, else the one in DATA_DIR. */
export function databasePlaceFrom({ DATABASE_URL, DATA_DIR }: NodeJS.ProcessEnv): DatabasePlace {
  return { databaseUrl: DATABASE_URL, dataDir: DATA_DIR ?? DEFAULT_DATA_DIR };
}

/** NaN for text that is no number, so that the check of the settings names the option. */
function numberFrom(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}
