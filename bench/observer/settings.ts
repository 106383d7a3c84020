/** Instances of the application, each a process, on Express and on Fastify in turn. */
export const INSTANCES = 8;

/**
 * Cache settings of every instance: a short lifetime, so that a run of minutes covers many. Other options
 * have their defaults.
 */
export const CACHE = { ttlMs: 3_000, negativeTtlMs: 1_000 };
export const TIMEOUT_MS = 1_000;
/** Rechecks of open things, which end with an outage: only the machine makes one here. */
export const WHILE_OPEN = { recheckMs: 1_000, outageGraceMs: 0 };
export const API_KEY = 'application-key';

/** Milliseconds within which other instances must receive a revocation, without faults. */
export const PROPAGATION_MS = 250;

/** Milliseconds after which a request without an answer counts as hanging. */
export const HANG_MS = 10_000;

/** Milliseconds after a fault that breaks no connection until delayed data has arrived. */
export const DRAIN_MS = 1_500;

/** `socketTimeout` of the application's client of Redis, which the guide recommends. */
export const SOCKET_TIMEOUT_MS = 2_000;

/** Deliberate bugs that the observer must detect, as evidence that it can detect real ones. */
export const SABOTAGES = {
  ttl: 'the instances cache for three times as long as the bound assumes',
  deaf: 'one instance drops every message that it receives',
  settle: 'every second end settles without having been made',
  user: 'one reply in fifty names another user',
} as const;
export type Sabotage = keyof typeof SABOTAGES;
