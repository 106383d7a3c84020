import { type CacheChoice } from '../backend/cache-choice.js';
import { type DemoUser } from '../session-service/demo-user.js';
import { type Fault } from '../session-service/fault.js';

/** What the console and its page say to each other. Types and names alone: the page is built from this file too. */

/** Live reports a second, and how many of them a page gets when it comes: those of the last minute. */
export const REPORTS_PER_SECOND = 2;
export const REPORTS_KEPT = 60 * REPORTS_PER_SECOND;

/** Seconds until a page that was refused the live reports, as too many watch, tries again. */
export const LIVE_RETRY_SECONDS = 5;

/**
 * How a check of a session was answered: from memory, by a call that another check had made, by a call of its own, or by a refusal; or
 * nobody could say.
 */
export const CHECK_KINDS = ['cached', 'joined', 'called', 'refused', 'unavailable'] as const;
export type CheckKind = (typeof CHECK_KINDS)[number];

/** What the guard refused, by the code in the reply. */
export const DENIAL_CODES = ['SESSION_REQUIRED', 'SESSION_REJECTED', 'ACCESS_DENIED', 'SESSION_SERVICE_UNAVAILABLE'] as const;
export type DenialCode = (typeof DENIAL_CODES)[number];

/** How long checks of one kind waited, in milliseconds. */
export interface Waits {
  readonly medianMs: number;
  readonly slowestMs: number;
}

/** What the guard did in half a second, and how it stands. */
export interface LiveReport {
  /** Counts the reports since the demo started: a page that comes back knows what it has. */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Checks since the report before. */
  readonly checks: Readonly<Record<CheckKind, number>>;
  /** How long they waited; absent where there were none. */
  readonly waits: Readonly<Partial<Record<CheckKind, Waits>>>;
  readonly totals: {
    /** Since the demo started, or since it was told to count anew. */
    readonly checks: Readonly<Record<CheckKind, number>>;
    readonly denials: Readonly<Record<DenialCode, number>>;
    /** Calls to the session service. */
    readonly calls: number;
  };
  /** Calls to the session service that are under way. */
  readonly inFlight: number;
  readonly breaker: 'closed' | 'halfOpen' | 'open';
  /** Sessions that would be answered from memory now. */
  readonly cached: number;
  readonly cache: CacheChoice;
  /** Absent with a session service of somebody else. */
  readonly fault?: Fault;
}

/** What the load button does: many requests at once, or some each second for a while. */
export const LOADS = ['stampede', 'steady'] as const;
export type Load = (typeof LOADS)[number];
export const STAMPEDE_REQUESTS = 500;
export const STEADY_REQUESTS_PER_SECOND = 20;
export const STEADY_SECONDS = 30;

/** What a run of load came to. */
export interface LoadResult {
  readonly load: Load;
  /** Requests that were answered, by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests that got no reply. */
  readonly lost: number;
  /** Calls to the session service meanwhile. */
  readonly calls: number;
  readonly tookMs: number;
}

/** What the page may offer. */
export interface ConsoleInfo {
  /** Users to sign in as, with their published passwords; none with a session service of somebody else. */
  readonly users: readonly DemoUser[];
  /** Whether there are buttons for faults, load and memory: with the embedded session service alone. */
  readonly controls: boolean;
  readonly platform: 'express' | 'fastify';
}

/** The source of each route of the backend, by method and path: `GET /api/me`. Taken from the controllers when the page is built. */
export type RouteSources = Readonly<Record<string, { readonly file: string; readonly source: string }>>;
