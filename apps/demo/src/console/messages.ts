import { type CacheChoice } from '../backend/cache-choice.js';
import { type DemoUser } from '../session-service/demo-user.js';
import { type Fault } from '../session-service/fault.js';

/**
 * Messages between the console and its page. Types and constants only, because the page is built from this
 * file too.
 */

/**
 * Live reports per second, and the number of past reports that a new page receives: those of the last minute.
 */
export const REPORTS_PER_SECOND = 2;
export const REPORTS_KEPT = 60 * REPORTS_PER_SECOND;

/** Seconds until a page retries after its live stream was refused because too many pages watch. */
export const LIVE_RETRY_SECONDS = 5;

/**
 * Kinds of checks. Authenticated from the cache, by the call of another check, or by its own call; denied
 * with 401 or 403; turned back by an open breaker, without a call; or unavailable.
 */
export const CHECK_KINDS = ['cached', 'joined', 'asked', 'denied', 'turnedBack', 'unavailable'] as const;
export type CheckKind = (typeof CHECK_KINDS)[number];

/** The outcome of a request; `open`: it needed no session. */
export type MarkKind = CheckKind | 'open';

/**
 * An event of a request, by its number: it came in, on a lane; its call to the session service was sent; or
 * it was replied to, with the number of the request whose call it joined.
 */
export type MarkEvent =
  | readonly [id: number, event: 'in', lane: 'known' | 'strangers']
  | readonly [id: number, event: 'call']
  | readonly [id: number, event: MarkKind, joinedTo?: number];

/** The events of requests since the previous batch. */
export interface Marks {
  readonly events: readonly MarkEvent[];
  /** Requests without events, because there were too many, by outcome. */
  readonly more: Readonly<Partial<Record<MarkKind, number>>>;
}

/** Batches per second, and the events after which a batch takes no further request. */
export const MARKS_PER_SECOND = 20;
export const MARK_EVENTS_MAX = 2_000;

/** Milliseconds between the few requests that a page without a scene asks for. */
export const TRICKLE_EVERY_MS = 2_600;

/** Denials, by the code in the reply. */
export const DENIAL_CODES = [
  'SESSION_REQUIRED',
  'SESSION_REJECTED',
  'ACCESS_DENIED',
  'SESSION_SERVICE_UNAVAILABLE',
] as const;
export type DenialCode = (typeof DENIAL_CODES)[number];

/** State of a circuit breaker: all calls, one probe, or none. */
export type BreakerState = 'closed' | 'halfOpen' | 'open';

/** The activity of the guard so far, and its state. */
export interface LiveReport {
  /**
   * Number of the report since the demo started, so that a page that reconnects knows which reports it has.
   */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly totals: {
    /** Since the demo started, or since the last reset. */
    readonly checks: Readonly<Record<CheckKind, number>>;
    readonly denials: Readonly<Record<DenialCode, number>>;
    /** Calls to the session service. */
    readonly calls: number;
  };
  /** Calls to the session service in flight. */
  readonly inFlight: number;
  readonly breakers: Readonly<Record<'known' | 'strangers', BreakerState>>;
  /** Entries of the session cache. */
  readonly cached: number;
  readonly cache: CacheChoice;
  /** The scene that runs. */
  readonly scene?: SceneName;
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

/** Experiments that run on the demo itself, one at a time. */
export const SCENES = ['stampede', 'outage', 'sign-out', 'junk', 'deploy', 'cache'] as const;
export type SceneName = (typeof SCENES)[number];
export const SCENE_STEPS = 3;

/** The figures of a scene that has ended, as its own requests measured them. */
export interface SceneResult {
  /** Requests with a reply, by outcome. */
  readonly requests: Readonly<Record<MarkKind, number>>;
  /** Requests without a reply. */
  readonly lost: number;
  /** Calls to the session service, without sign-ins and sign-outs. */
  readonly calls: number;
  /** The measurement of this scene: milliseconds, or a number of requests. */
  readonly measured: Readonly<Record<string, number>>;
}

/**
 * A line of the reply to a request to run a scene: other requests have ended (-1), a step began (0, 1, 2),
 * the scene has ended, or it failed. Everything is restored before the last line.
 */
export type SceneLine =
  | { readonly step: number }
  | { readonly result: SceneResult }
  | { readonly error: string };

/** The users and the controls that the page offers. */
export interface ConsoleInfo {
  /** Users to sign in as, with their published passwords; none with a remote session service. */
  readonly users: readonly DemoUser[];
  /**
   * Whether the page has controls for faults, load and the session cache: only with the embedded session
   * service.
   */
  readonly controls: boolean;
  readonly platform: 'express' | 'fastify';
}

/**
 * The source of each route of the backend, by method and path: `GET /api/me`. Taken from the controllers when
 * the page is built.
 */
export type RouteSources = Readonly<Record<string, { readonly file: string; readonly source: string }>>;
