import { channel, tracingChannel, type Channel } from 'node:diagnostics_channel';
import type { UnavailableReason, Verdict } from './outcome.js';

/** Where the answer to a check came from: memory of this instance, the store of all, or the session service. */
export type CheckSource = 'cache' | 'store' | 'service';

/** A check has its verdict. Published to `nestjs-session-auth:check`; it holds nothing of the session. */
export interface CheckMessage {
  /** `accepted`: a session. `rejected`: none (401). `denied`: the service's 403. `unavailable`: nobody could say (503). */
  readonly outcome: Verdict<unknown>['kind'];
  /** Where the answer came from. */
  readonly source: CheckSource;
  /** It waited for a call that another check had made. */
  readonly joined: boolean;
  /** It was answered from a memory that has lapsed, because the service was unavailable. */
  readonly stale: boolean;
  /** Why nobody could say, where `outcome` is `unavailable`. */
  readonly reason: UnavailableReason | undefined;
  /** Milliseconds that the caller waited; 0 from memory. */
  readonly durationMs: number;
}

/**
 * One call to the session service: an attempt of a check, a sign-in or a sign-out. The context object of the tracing channel
 * `nestjs-session-auth:call`, whose events are those of Node's `TracingChannel` for a promise.
 */
export interface CallMessage {
  /** What the service was asked for (section 4). */
  readonly operation: 'user_details' | 'sign_in' | 'sign_out';
  /** Method of the request. */
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Host of `baseUrl`. */
  readonly serverAddress: string;
  /** Port of `baseUrl`, 1 to 65535; that of its scheme where it names none. */
  readonly serverPort: number;
  /** Status of the reply, 100 to 599; absent until it is there, and where none came. */
  statusCode?: number;
  /** Set when the call has ended: the kind of its verdict, or `done` for a sign-in or a sign-out that was answered as asked. */
  outcome?: Verdict<unknown>['kind'] | 'done' | 'failed';
  /** Why nobody could say, where `outcome` is `unavailable`. */
  reason?: UnavailableReason;
}

/**
 * In which of two lanes the service is asked. `known`: sessions that this process accepted lately, or issued by a sign-in. `strangers`: all others.
 * Each lane has its own share of the calls and of the queue, and its own circuit breaker.
 */
export type LaneName = 'known' | 'strangers';

/** The circuit breaker of a lane changed. Published to `nestjs-session-auth:breaker`. */
export interface BreakerMessage {
  /** Whose breaker it is. */
  readonly lane: LaneName;
  /** The new state: `closed` lets every call pass, `open` none, `halfOpen` a single probe. */
  readonly state: 'closed' | 'open' | 'halfOpen';
}

/**
 * The guard refused a request, a message or an operation: for want of a good session, for what the handler asks of its user, or because
 * nobody could say. Published to `nestjs-session-auth:denial`.
 */
export interface DenialMessage {
  /** The stable code that its caller got: of 401, 401, 403 and 503, in this order. */
  readonly code: 'SESSION_REQUIRED' | 'SESSION_REJECTED' | 'ACCESS_DENIED' | 'SESSION_SERVICE_UNAVAILABLE';
}

/** Name of the channel of {@link CheckMessage}. */
export const CHECK_CHANNEL = 'nestjs-session-auth:check';
/** Name of the channel of {@link BreakerMessage}. */
export const BREAKER_CHANNEL = 'nestjs-session-auth:breaker';
/** Name of the channel of {@link DenialMessage}. */
export const DENIAL_CHANNEL = 'nestjs-session-auth:denial';
/** Name of the tracing channel of {@link CallMessage}. */
export const CALL_CHANNEL = 'nestjs-session-auth:call';

/** Publish only if a channel has subscribers, so that unused channels cost nothing. */
export const CHECKS = channel(CHECK_CHANNEL) as Channel<unknown, CheckMessage>;
export const BREAKER = channel(BREAKER_CHANNEL) as Channel<unknown, BreakerMessage>;
export const DENIALS = channel(DENIAL_CHANNEL) as Channel<unknown, DenialMessage>;
export const CALLS = tracingChannel<unknown, CallMessage>(CALL_CHANNEL);
