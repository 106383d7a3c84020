import { BlockList, isIP } from 'node:net';
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
  /** Whether a database with the demo accounts may be served. */
  readonly allowsDemoAccounts: boolean;
  readonly limits: SessionLimits;
  readonly signInLimits: SignInLimits;
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Applies the defaults and validates the options.
 *
 * @throws StartError for an invalid option
 */
export function settingsFrom(options: ReferenceServiceOptions, production: boolean): ServiceSettings {
  const {
    port = 0,
    host = '127.0.0.1',
    databaseUrl,
    dataDir,
    seed = !production,
    exposeDemoAccounts = false,
    sessionLifetimeMs,
  } = options;
  requireInteger('the port', port, 0, 65_535);
  if (host.trim() === '') throw new StartError('the host must not be empty');
  if (dataDir?.trim() === '') throw new StartError('the data directory must not be empty');
  if (sessionLifetimeMs !== undefined)
    requireInteger('the session lifetime in milliseconds', sessionLifetimeMs, 1, YEAR_MS);
  if (seed && production)
    throw new StartError(
      'the demo accounts have published passwords and cannot be added with NODE_ENV=production; leave out the option "seed"',
    );
  const allowsDemoAccounts = exposeDemoAccounts || isLoopback(host);
  if (seed && !allowsDemoAccounts) throw exposedDemoAccounts(host);
  const database = { databaseUrl, dataDir: dataDir === undefined ? undefined : resolve(dataDir) };
  return {
    port,
    host,
    database,
    seed,
    allowsDemoAccounts,
    limits: new SessionLimits(sessionLifetimeMs),
    signInLimits: signInLimitsFrom(options.signInLimits),
  };
}

/** Returns the error of a service that would offer the demo accounts to other machines. */
export function exposedDemoAccounts(host: string): StartError {
  return new StartError(
    `the demo accounts have published passwords and a published key, and ${host} is reachable from other machines; set HOST=127.0.0.1, use NODE_ENV=production with a new database, or allow it with EXPOSE_DEMO_ACCOUNTS=true`,
  );
}

/** Any other host counts as reachable, also a name that resolves to a loopback address. */
function isLoopback(host: string): boolean {
  const family = isIP(host);
  return family === 0
    ? host.toLowerCase() === 'localhost'
    : LOOPBACK.check(host, family === 6 ? 'ipv6' : 'ipv4');
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
  if (!Number.isInteger(value) || value < min || value > max)
    throw new StartError(`${name} must be a whole number from ${min} to ${max}`);
}
