/** How the library is set up in the applications under test: short times, so that minutes hold many lifetimes and outages. */
export const TIMEOUT_MS = 1_000;
export const CACHE = { ttlMs: 1_000, negativeTtlMs: 500, refreshAheadMs: 300, staleIfErrorMs: 0, maxEntries: 500 };
export const BREAKER = { windowMs: 2_000, minimumCalls: 10, failureRatio: 0.5, pauseMs: 200, maxPauseMs: 800 };
export const MAX_IN_FLIGHT = 32;

/** How long a session that was ended elsewhere may still work: its lifetime, and the check whose answer was on its way. */
export const AFTERLIFE_MS = CACHE.ttlMs + TIMEOUT_MS;

/** What a busy machine may add to a reply. */
export const MARGIN_MS = 1_000;
export const MAX_REPLY_MS = TIMEOUT_MS + MARGIN_MS;

/** A machine that keeps this process waiting for longer may do the same to a check, which then is out of time without a fault. */
export const MAX_CALM_STALL_MS = 200;

/** From the end of a fault to the next 200: a probe that meets the fault still, the longest pause, and the check itself. */
export const MAX_RECOVERY_MS = TIMEOUT_MS + BREAKER.maxPauseMs + TIMEOUT_MS + MARGIN_MS;

/** What the heap of an application may gain between the warm-up and the end. */
export const MAX_HEAP_GAIN = 2 * 1024 * 1024;

/** Sign-ins and sign-outs, of which an application gets so many at once, have connections of their own beside the pool of checks. */
export const MAX_SIGN_CALLS = 8;
export const MAX_SERVICE_SOCKETS = MAX_IN_FLIGHT + MAX_SIGN_CALLS;

/** Time for the last sockets to close when the load is over, and for a process to end after its application has closed. */
export const MAX_IDLE_MS = 15_000;
export const MAX_EXIT_MS = 5_000;

/** Secrets begin alike, so that one look at an output finds any of them. */
export const SECRET = 'secret-';
export const API_KEY = `${SECRET}application-key`;
export const PASSWORD = `${SECRET}password`;
export const TOKEN_PREFIX = `${SECRET}token.`;

export const APPLICATIONS = ['Express', 'Fastify'] as const;
export type ApplicationName = (typeof APPLICATIONS)[number];

/** The role of a user, told by the name: every fifth is a manager. */
export function isManager(username: string): boolean {
  return Number(username.split('-')[1]) % 5 === 0;
}
