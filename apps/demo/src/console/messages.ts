import { type CacheChoice } from '../backend/cache-choice.js';
import { type DemoUser } from '../session-service/demo-user.js';
import { type Fault } from '../session-service/fault.js';

/** Messages between the console and its page. Types and constants only, because the page is built from this file too. */

/** Live reports per second, and the number of past reports that a new page receives: those of the last minute. */
export const REPORTS_PER_SECOND = 2;
export const REPORTS_KEPT = 60 * REPORTS_PER_SECOND;

/** Seconds until a page retries after its live stream was refused because too many pages watch. */
export const LIVE_RETRY_SECONDS = 5;

/**
 * Kinds of checks. Authenticated from the cache, by a call of another check, or by its own call; refused with 401 or 403; or unavailable.
 */
export const CHECK_KINDS = ['cached', 'joined', 'called', 'refused', 'unavailable'] as const;
export type CheckKind = (typeof CHECK_KINDS)[number];

/** Denials, by the code in the reply. */
export const DENIAL_CODES = ['SESSION_REQUIRED', 'SESSION_REJECTED', 'ACCESS_DENIED', 'SESSION_SERVICE_UNAVAILABLE'] as const;
export type DenialCode = (typeof DENIAL_CODES)[number];

/** Durations of the checks of one kind, in milliseconds. */
export interface Waits {
  readonly medianMs: number;
  readonly slowestMs: number;
}

/** The activity of the guard in half a second, and its state. */
export interface LiveReport {
  /** Number of the report since the demo started, so that a page that reconnects knows which reports it has. */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Checks since the previous report. */
  readonly checks: Readonly<Record<CheckKind, number>>;
  /** Durations of these checks; absent for a kind without checks. */
  readonly waits: Readonly<Partial<Record<CheckKind, Waits>>>;
  readonly totals: {
    /** Since the demo started, or since the last reset. */
    readonly checks: Readonly<Record<CheckKind, number>>;
    readonly denials: Readonly<Record<DenialCode, number>>;
    /** Calls to the session service. */
    readonly calls: number;
  };
  /** Calls to the session service in flight. */
  readonly inFlight: number;
  readonly breaker: 'closed' | 'halfOpen' | 'open';
  /** Entries of the session cache. */
  readonly cached: number;
  readonly cache: CacheChoice;
  /** Absent with a remote session service. */
  readonly fault?: Fault;
}

/** Kinds of load: many requests at once, or a fixed rate for a while. */
export const LOADS = ['stampede', 'steady'] as const;
export type Load = (typeof LOADS)[number];
export const STAMPEDE_REQUESTS = 500;
export const STEADY_REQUESTS_PER_SECOND = 20;
export const STEADY_SECONDS = 30;

/** The result of a run of load. */
export interface LoadResult {
  readonly load: Load;
  /** Requests with a reply, by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests without a reply. */
  readonly lost: number;
  /** Calls to the session service during the run. */
  readonly calls: number;
  readonly tookMs: number;
}

/** The users and the controls that the page offers. */
export interface ConsoleInfo {
  /** Users to sign in as, with their published passwords; none with a remote session service. */
  readonly users: readonly DemoUser[];
  /** Whether the page has controls for faults, load and the session cache: only with the embedded session service. */
  readonly controls: boolean;
  readonly platform: 'express' | 'fastify';
}

/** The source of each route of the backend, by method and path: `GET /api/me`. Taken from the controllers when the page is built. */
export type RouteSources = Readonly<Record<string, { readonly file: string; readonly source: string }>>;
