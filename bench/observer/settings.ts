/** Instances of the application, each a process, on Express and on Fastify in turn. */
export const INSTANCES = 8;

/** The settings of the library in every instance: a short lifetime, so that minutes hold many. What is not here has its default. */
export const CACHE = { ttlMs: 3_000, negativeTtlMs: 1_000 };
export const TIMEOUT_MS = 1_000;
export const API_KEY = 'application-key';

/** Until the other instances have learned of an end, while nothing is wrong. */
export const PROPAGATION_MS = 250;

/** A request without an answer for so long hangs. */
export const HANG_MS = 10_000;

/** After a fault that breaks no connection, until what it held up is through. */
export const DRAIN_MS = 1_500;

/** `socketTimeout` of the application's client of Redis, which the guide recommends. */
export const SOCKET_TIMEOUT_MS = 2_000;

/** A deliberate bug, which the observer has to see: what it does not see it cannot rule out. */
export const SABOTAGES = {
  ttl: 'the instances cache for three times as long as the bound assumes',
  deaf: 'one instance drops every message that it receives',
  settle: 'every second end settles without having been made',
  user: 'one reply in fifty names another user',
} as const;
export type Sabotage = keyof typeof SABOTAGES;
