import { resolve } from 'node:path';
import { type DatabasePlace } from './database/database-place.js';
import { type ReferenceServiceOptions } from './reference-service-options.js';
import { SessionLimits } from './sessions/session-limits.js';
import { type SignInLimitOptions, SignInLimits } from './sign-in-limits/sign-in-limits.js';
import { StartError } from './start-error.js';

const MILLION = 1_000_000;
const DAY_MS = 24 * 60 * 60 * 1000;
const YEAR_MS = 365 * DAY_MS;

/** The validated options, with defaults. */
export interface ServiceSettings {
  readonly port: number;
  readonly host: string;
  readonly database: DatabasePlace;
  readonly seed: boolean;
  readonly limits: SessionLimits;
  readonly signInLimits: SignInLimits;
}

/**
 * Applies the defaults and validates the options.
 *
 * @throws StartError for an invalid option
 */
export function settingsFrom(options: ReferenceServiceOptions, production: boolean): ServiceSettings {
  const { port = 0, host = '127.0.0.1', databaseUrl, dataDir, seed = !production, sessionLifetimeMs } = options;
  requireInteger('the port', port, 0, 65_535);
  if (host.trim() === '') throw new StartError('the host must not be empty');
  if (dataDir?.trim() === '') throw new StartError('the data directory must not be empty');
  if (sessionLifetimeMs !== undefined) requireInteger('the session lifetime in milliseconds', sessionLifetimeMs, 1, YEAR_MS);
  if (seed && production)
    throw new StartError(
      'the demo accounts have published passwords and cannot be added with NODE_ENV=production; leave out the option "seed"',
    );
  const database = { databaseUrl, dataDir: dataDir === undefined ? undefined : resolve(dataDir) };
  return { port, host, database, seed, limits: new SessionLimits(sessionLifetimeMs), signInLimits: signInLimitsFrom(options.signInLimits) };
}

function signInLimitsFrom(options?: SignInLimitOptions): SignInLimits {
  const limits = new SignInLimits(options);
  const { maxFailures, maxFailuresPerCaller, maxFailuresPerAccount, windowMs, maxEntries } = limits;
  requireInteger('the failed sign-ins per account and caller', maxFailures, 1, MILLION);
  requireInteger('the failed sign-ins per caller', maxFailuresPerCaller, 1, MILLION);
  requireInteger('the failed sign-ins per account', maxFailuresPerAccount, 1, MILLION);
  requireInteger('the window of failed sign-ins in milliseconds', windowMs, 1, DAY_MS);
  requireInteger('the entries of failed sign-ins', maxEntries, 1, MILLION);
  return limits;
}

function requireInteger(name: string, value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max) throw new StartError(`${name} must be a whole number from ${min} to ${max}`);
}
