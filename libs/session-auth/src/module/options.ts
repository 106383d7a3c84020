import type { ConfigurableModuleAsyncOptions } from '@nestjs/common';
import type { ApiKey } from '../client/session-requests.js';
import type { StatusMap } from '../contract/outcome.js';
import type { TokenEcho } from '../client/user-details-verdict.js';
import type { SessionStore } from '../contract/session-store.js';
import type { UserRecord, UserRecordClass } from '../contract/record/user-record.js';
import type { TokenSource } from '../guard/session/token-source.js';
import type { BreakerSettings } from '../verifier/lanes/circuit.js';
import type { RetrySettings } from '../verifier/lanes/retry.js';
import type { Audit } from './audit/boot-audit.js';
import type { SessionAuthHttpOptions } from './http-options.js';

/** Options of {@link SessionAuthModule}. A wrong one stops the application at bootstrap and is named in the error. */
export interface SessionAuthOptions<User extends UserRecord = UserRecord> {
  /** Root of the session service, without `/authentication`: http or https, no user info, query or fragment. */
  readonly baseUrl: string | URL;

  /** Sent as `X-API-KEY` (section 5.1). A function is asked before each call, so that the key can rotate without a restart. */
  readonly apiKey: ApiKey;

  /** Where the guard looks for the token; in a list, the first source that finds one decides. @default fromHeader('x-auth-token') */
  readonly token?: TokenSource | readonly TokenSource[];

  /** Sends the caller's `X-AUTH-IV` upstream unchanged, as a part of the session's identity (section 5.6). @default true */
  readonly forwardAuthIv?: boolean;

  /** Milliseconds for one check: queue, retry and body included. 1 to 300 000. @default 3000 */
  readonly timeoutMs?: number;

  /** Milliseconds for a sign-in, which is never retried. 1 to 300 000. @default 10000 */
  readonly signInTimeoutMs?: number;

  /** Milliseconds for a sign-out, which is never retried. 1 to 300 000. @default 5000 */
  readonly signOutTimeoutMs?: number;

  /** Attempts of one check, the first included: 1 to 10. Only a passing failure is tried again. @default { maxAttempts: 2 } */
  readonly retry?: false | Partial<RetrySettings>;

  /**
   * Stops the calls to a service that fails, and probes it after a pause: one breaker for known sessions, one for strangers. Failures are: no
   * connection, no answer in time, 408 and 5xx, for at least five different tokens (`minimumCalls`, if that is less). `false`: off.
   * @default { windowMs: 10000, minimumCalls: 20, failureRatio: 0.5, pauseMs: 1000, maxPauseMs: 30000 }
   */
  readonly breaker?: false | Partial<BreakerSettings>;

  /**
   * Checks that may ask the service at once. 1 to 10 000. A quarter (at least 1 of 2) is the share of strangers: tokens that this instance has
   * neither accepted nor issued within half an hour. An idle share is lent. @default 128
   */
  readonly maxInFlight?: number;

  /**
   * Checks that may wait for their turn, a quarter of them strangers where known sessions wait as well. One that finds no room, or would wait for
   * more than half of `timeoutMs`, is answered 503 at once. 0 to 100 000. @default 1024
   */
  readonly maxQueued?: number;

  /**
   * Sign-ins that may be in flight at once, each on a connection of its own; the next is answered 503 at once. As many sign-outs, counted apart, so
   * that sign-ins never keep a session from being ended. 1 to 10 000. @default 32
   */
  readonly maxSignIns?: number;

  /** Memory of sessions. Off, every request is checked, and concurrent checks of one token still share a call. @default false */
  readonly cache?: false | SessionAuthCacheOptions;

  /** What the service's refusals of a check mean; the interface does not say what causes each (section 7). @default 403 forbidden, else unauthenticated */
  readonly statusMap?: StatusMap;

  /** Class of the records: one that extends `UserRecord` with your own decorated fields. @default UserRecord */
  readonly userRecord?: UserRecordClass<User>;

  /** At least one of these fields must be a non-empty string, or a 200 is not a user (our decision). @default ['username', 'email'] */
  readonly identityFields?: readonly (keyof User & string)[];

  /**
   * What to do when user_details answers with another `auth_token` than was presented: `'deny'` answers 503, because the record may be another
   * caller's; `'warn'` lets the caller in; both write a log line, at most once a minute. `'ignore'` lets the caller in. @default 'deny'
   */
  readonly tokenEcho?: TokenEcho;

  /**
   * What to do at bootstrap with handlers whose rules do not hold: `@Public()` beside `@Roles()`, a rule that another decorator lost, GraphQL fields
   * and references that callers reach past the guard, guarded routes that `CacheInterceptor` caches for all users. @default 'warn'
   */
  readonly audit?: Audit;

  /** Transport and its limits. */
  readonly http?: SessionAuthHttpOptions;
}

/**
 * What is remembered, and how long. Its price: a session that was ended elsewhere still works here for `ttlMs`.
 * A sign-out through this application ends it here at once.
 */
export interface SessionAuthCacheOptions {
  /**
   * Milliseconds that a confirmed session is answered from memory. 1 to 300 000. Required: there is no harmless default. `Cache-Control` (`no-store`,
   * `no-cache`, `max-age`, `s-maxage`) and `Age` of the service's reply shorten it, and never lengthen it (our decision).
   */
  readonly ttlMs: number;
  /** Milliseconds that a refusal is answered from memory; the same headers shorten it. 0 to 300 000. @default 5000 */
  readonly negativeTtlMs?: number;
  /** Sessions remembered at most, the least recently used first out; as many refusals beside them. 1 to 10 000 000. @default 10000 */
  readonly maxEntries?: number;
  /** Milliseconds before it lapses that a session in use is confirmed again in the background, so that nobody waits. Below `ttlMs`. @default 0 (off) */
  readonly refreshAheadMs?: number;
  /** Milliseconds after it lapsed that a session still works while the service is unavailable. 0 to 86 400 000. @default 0 (off) */
  readonly staleIfErrorMs?: number;
  /**
   * A memory that all instances of the application share, behind the memory of each: the service is asked once per session and lifetime by
   * all of them, and a sign-out on one ends the session on all. What it does wrong counts as nothing there. @default none
   */
  readonly store?: SessionStore;
}

/** Extras of `forRoot` and `forRootAsync`, beside the options. */
export interface SessionAuthExtras {
  /** Makes the guard and the service available everywhere without an import. @default true */
  readonly isGlobal?: boolean;
  /**
   * Registers the guard for the whole application, with `@Public()` as the way out: routes, resolvers, gateways, and message handlers, those of a
   * hybrid application included. @default false
   */
  readonly protectAllRoutes?: boolean;
}

/** Implemented by a class that `forRootAsync` is to take the options from (`useClass`, `useExisting`). */
export interface SessionAuthOptionsFactory<User extends UserRecord = UserRecord> {
  /** Gives the options, once, when the application starts. */
  createSessionAuthOptions(): SessionAuthOptions<User> | Promise<SessionAuthOptions<User>>;
}

/** Options of `forRootAsync`: Nest's usual `imports`, `inject` and one of `useFactory`, `useClass`, `useExisting`. */
export type SessionAuthAsyncOptions<User extends UserRecord = UserRecord> = ConfigurableModuleAsyncOptions<
  SessionAuthOptions<User>,
  'createSessionAuthOptions'
>;
