/**
 * How the library is set up in the applications under test: short times, so that minutes hold many lifetimes
 * and outages.
 */
export const TIMEOUT_MS = 1_000;
export const CACHE = {
  ttlMs: 1_000,
  negativeTtlMs: 500,
  refreshAheadMs: 300,
  staleIfErrorMs: 0,
  maxEntries: 500,
};
export const BREAKER = {
  windowMs: 2_000,
  minimumCalls: 10,
  failureRatio: 0.5,
  pauseMs: 200,
  maxPauseMs: 800,
};
export const MAX_IN_FLIGHT = 32;

export const APPLICATIONS = ['Express', 'Fastify', 'Express in a fleet', 'Fastify in a fleet'] as const;
export type ApplicationName = (typeof APPLICATIONS)[number];

/** Whether an application shares its sessions and revocations with the others of its fleet, by Redis. */
export function isInFleet(name: ApplicationName): boolean {
  return name.endsWith('in a fleet');
}

/**
 * In the fleet, only a message ends a cached session soon: each is cached for much longer than a message
 * takes.
 */
const FLEET_TTL_MS = 8_000;

/** The cache of an application, but for its store. */
export function cacheOf(name: ApplicationName): typeof CACHE {
  return isInFleet(name) ? { ...CACHE, ttlMs: FLEET_TTL_MS } : CACHE;
}

/**
 * How long a session that was revoked elsewhere may stay valid: its lifetime, and the time of a check in
 * flight.
 */
export function afterlifeMs(name: ApplicationName): number {
  return cacheOf(name).ttlMs + TIMEOUT_MS;
}

/**
 * The longest delay of a message between instances: Redis has no faults here, but the machine may be busy.
 */
export const RELAY_MS = 2_000;
export const STORE_TIMEOUT_MS = 500;
/** For commands, and for messages. */
export const STORE_SOCKETS = 2;

/** A socket is checked again within this time; for as long as any fault lasts, it stays open. */
export const SOCKET = { recheckMs: 1_000, outageGraceMs: 60_000 };
/** From the end of a session to the end of its sockets, where the application knows of it. */
export const SOCKET_END_MS = 1_000;

export const COOKIE = 'session';
export const TRUSTED_ORIGIN = 'https://app.example.com';
export const FOREIGN_ORIGIN = 'https://elsewhere.example.net';

/** Tokens of a flood. The service takes its time to refuse them, so that they fill their lane. */
export const JUNK_PREFIX = 'junk.';
export const JUNK_MS = 100;
export const FLOOD = 60;

/** The delay of a reply on a busy machine. */
const MARGIN_MS = 1_000;
export const MAX_REPLY_MS = TIMEOUT_MS + MARGIN_MS;
/** A reply that takes longer counts as missing, not as late. */
export const PATIENCE_MS = 30_000;

/**
 * A machine that keeps this process waiting for longer may do the same to a check, which then is out of time
 * without a fault.
 */
export const MAX_CALM_STALL_MS = 200;

/**
 * From the end of a fault to the next 200: a probe that meets the fault still, the longest pause, and the
 * check itself.
 */
export const MAX_RECOVERY_MS = TIMEOUT_MS + BREAKER.maxPauseMs + TIMEOUT_MS + MARGIN_MS;

const MEBIBYTE = 1024 * 1024;

/**
 * Maximum gain of the heap of an application between the warm-up and the end, in bytes. Two tables fill for
 * longer than the soak lasts: known sessions (10,000, 1 MB), and in a fleet the messages of the last ten
 * minutes (50,000, 5 MB).
 */
export function maxHeapGain(name: ApplicationName): number {
  return isInFleet(name) ? 4 * MEBIBYTE : 2 * MEBIBYTE;
}

/** The longest pause of a lane whose checks the service has answered with 429. */
export const MAX_LIMITED_MS = 30_000;

/**
 * Concurrent sign-ins and sign-outs of an application, which have their own connections besides the pool of
 * checks.
 */
export const MAX_SIGN_CALLS = 8;
export const MAX_SERVICE_SOCKETS = MAX_IN_FLIGHT + MAX_SIGN_CALLS;

/**
 * Time for the last sockets to close when the load is over, and for a process to end after its application
 * has closed.
 */
export const MAX_IDLE_MS = 15_000;
export const MAX_EXIT_MS = 5_000;

/** Secrets begin alike, so that one look at an output finds any of them. */
export const SECRET = 'secret-';
export const API_KEY = `${SECRET}application-key`;
export const PASSWORD = `${SECRET}password`;
export const TOKEN_PREFIX = `${SECRET}token.`;

/** Derives the role of a user from the name: every fifth is a manager. */
export function isManager(username: string): boolean {
  return Number(username.split('-')[1]) % 5 === 0;
}
