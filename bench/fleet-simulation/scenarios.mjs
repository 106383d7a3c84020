/**
 * Parameters of the fleet. Times are in seconds. Every figure of RESULTS.md is derived from these, from
 * redis.json and from bench/RESULTS.md.
 */
export const FLEET = {
  instances: 1_000,
  users: 10_000_000,
  maxEntries: 10_000,
  /** Response time of the session service, during which the checks of a session on one instance share a call. */
  serviceTime: 0.02,
};

export const EXPONENTS = [0.6, 0.8, 1];
export const RATES_PER_INSTANCE = [50, 500];
export const LIFETIMES = [1, 10, 60, 300];
export const ENTRY_BOUNDS = [10_000, 30_000, 100_000];
export const FLEET_SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];
export const CLUSTER_NODES = [1, 3, 6, 12, 30];
export const SIGN_OUTS_PER_USER_AND_DAY = [0.1, 1, 10];

/** The mix and the load of the narrower tables and the chart. */
export const TYPICAL = { exponent: 0.8, ratePerInstance: 500, ttl: 60 };

/** A fleet small enough to be simulated request by request, with caches small enough to overflow. */
export const SMALL_FLEET = { ...FLEET, instances: 20, users: 20_000, maxEntries: 500, ratePerInstance: 50 };

/** Maximum deviation of a formula from the simulation, as a part of the simulated figure. */
export const ALLOWED_DEVIATION = 0.02;
