import { channel, tracingChannel, type Channel } from 'node:diagnostics_channel';
import type { CauseName } from './causes.js';
import type { UnavailableReason, Verdict } from './outcome.js';

/**
 * Source of a check's outcome: the session cache of this instance, the shared store, or the session service.
 */
export type CheckSource = 'cache' | 'store' | 'service';

/** Published to `nestjs-session-auth:check` when a check completes. Contains nothing of the session. */
export interface CheckMessage {
  /**
   * `authenticated`: the session is valid. `unauthenticated`: it is not valid (401). `forbidden`: the
   * service's 403. `unavailable`: no usable answer (503).
   */
  readonly outcome: Verdict<unknown>['kind'];
  /** Source of the outcome. */
  readonly source: CheckSource;
  /** Whether the check joined the call of another check. */
  readonly joined: boolean;
  /** Whether the outcome comes from an expired cache entry, because the service was unavailable. */
  readonly stale: boolean;
  /** Reason, if `outcome` is `unavailable`. */
  readonly reason: UnavailableReason | undefined;
  /** Milliseconds that the caller waited; 0 for a cache hit. */
  readonly durationMs: number;
}

/**
 * One call to the session service: an attempt of a check, a sign-in or a sign-out. The context object of the
 * tracing channel `nestjs-session-auth:call`, which emits the events of Node.js's `TracingChannel` for a
 * promise.
 */
export interface CallMessage {
  /** Operation of the interface (section 4). */
  readonly operation: 'user_details' | 'sign_in' | 'sign_out';
  /** HTTP method of the request. */
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Host of `baseUrl`. */
  readonly serverAddress: string;
  /** Port of `baseUrl`, 1 to 65535; by default the port of its scheme. */
  readonly serverPort: number;
  /** HTTP status of the reply, 100 to 599; absent until there is a reply. */
  statusCode?: number;
  /**
   * Set when the call ends: the outcome of a check; for a sign-in or sign-out, `done` if it succeeded, else
   * `failed`.
   */
  outcome?: Verdict<unknown>['kind'] | 'done' | 'failed';
  /** Reason, if `outcome` is `unavailable`. */
  reason?: UnavailableReason;
}

/**
 * Lane of a check. `known`: sessions that this process recently authenticated, or issued by a sign-in.
 * `strangers`: all other sessions. Each lane has its own share of the calls and of the queue, and its own
 * circuit breaker.
 */
export type LaneName = 'known' | 'strangers';

/** Published to `nestjs-session-auth:breaker` when the circuit breaker of a lane changes state. */
export interface BreakerMessage {
  /** Lane of the breaker. */
  readonly lane: LaneName;
  /** New state: `closed` allows every call, `open` none, `halfOpen` a single probe. */
  readonly state: 'closed' | 'open' | 'halfOpen';
}

/** Codes of a sign-in that fails. */
export type SignInFailureCode =
  | 'CREDENTIALS_REJECTED'
  | 'INVALID_REQUEST'
  | 'ACCESS_DENIED'
  | 'TOO_MANY_ATTEMPTS'
  | 'SESSION_SERVICE_UNAVAILABLE';

/**
 * Published to `nestjs-session-auth:denial` when a sign-in fails, and when the guard denies a request, a
 * message or an operation.
 */
export interface DenialMessage {
  /**
   * Stable code of the denial. Those of the guard, in this order, are 401, 401, 403, 403, 503 and 503.
   */
  readonly code:
    | SignInFailureCode
    | 'SESSION_REQUIRED'
    | 'SESSION_REJECTED'
    | 'ACCESS_DENIED'
    | 'CROSS_ORIGIN_DENIED'
    | 'ACCESS_CHECK_FAILED'
    | 'SESSION_SERVICE_UNAVAILABLE';
  /** The requirement that is not met, or could not be evaluated: `@Roles(approver)`. */
  readonly rule?: string | undefined;
  /** Set with `reportOnly`: the call was not denied. */
  readonly wouldDeny?: true | undefined;
}

/**
 * Published to `nestjs-session-auth:cause` when a cause of denials that is not the caller's own begins, and
 * when it is over.
 */
export interface CauseMessage {
  /** Name of the cause, as in its log line. */
  readonly cause: CauseName;
  /** How often it is active now: for each kind of calls, rule or field that it affects; 0: it is over. */
  readonly active: number;
}

/** Name of the channel of {@link CheckMessage}. */
export const CHECK_CHANNEL = 'nestjs-session-auth:check';
/** Name of the channel of {@link BreakerMessage}. */
export const BREAKER_CHANNEL = 'nestjs-session-auth:breaker';
/** Name of the channel of {@link DenialMessage}. */
export const DENIAL_CHANNEL = 'nestjs-session-auth:denial';
/** Name of the channel of {@link CauseMessage}. */
export const CAUSE_CHANNEL = 'nestjs-session-auth:cause';
/** Name of the tracing channel of {@link CallMessage}. */
export const CALL_CHANNEL = 'nestjs-session-auth:call';

// Publish only if the channel has subscribers (`hasSubscribers`), so that unused channels cost nothing.
export const CHECKS = channel(CHECK_CHANNEL) as Channel<unknown, CheckMessage>;
export const BREAKER = channel(BREAKER_CHANNEL) as Channel<unknown, BreakerMessage>;
export const DENIALS = channel(DENIAL_CHANNEL) as Channel<unknown, DenialMessage>;
export const CAUSE_CHANGES = channel(CAUSE_CHANNEL) as Channel<unknown, CauseMessage>;
export const CALLS = tracingChannel<unknown, CallMessage>(CALL_CHANNEL);
