import type { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import type { ConfigurableModuleAsyncOptions, Type } from '@nestjs/common';
import type { AxiosProxyConfig } from 'axios';
import type { ApiKey } from '../../client/session-client.js';
import type { StatusMap } from '../../contract/status-outcomes.js';
import type { TokenEcho } from '../../client/user-details-verdict.js';
import type { SessionStore } from '../../contract/session-store.js';
import type { UserRecord, UserRecordClass, UserRecordSchema } from '../../contract/record/user-record.js';
import type { LocalUser, SessionAuthTypes } from '../../contract/session-auth-types.js';
import type { CurrentUserRecord, LoadUser, UserLoader } from '../../guard/current-user.decorator.js';
import type { TokenSource } from '../../guard/token-source.js';
import type { WhileOpen } from '../../guard/transport.js';
import type { BreakerSettings } from '../../verifier/circuit-breaker.js';
import type { RetrySettings } from '../../verifier/lanes.js';
import type { SessionAuthPlugin } from './plugins.js';

interface OptionalRecord<User extends UserRecord> {
  /**
   * What a record is: a class that extends `UserRecord` with your own fields, each with a class-validator
   * decorator, or a Standard Schema (zod, valibot, arktype), whose result is the record. Required if
   * `SessionAuthTypes` declares `user`: without it, records would lack the fields of that type.
   * @default UserRecord
   */
  readonly userRecord?: UserRecordClass<User> | UserRecordSchema<User>;
}

interface OptionalLoader<User extends UserRecord, Local> {
  /**
   * Loads the application's own user of a record, once for each request, after the check: a function, or an
   * injectable class with `load(record, context)`. The user is `request.user` and what `@CurrentUser()`
   * injects; `@SessionRecord()` injects the record. Without a user, the call is denied: 403. Required if
   * `SessionAuthTypes` declares `localUser`. @default the record itself
   */
  readonly loadUser?: LoadUser<User, Local> | Type<UserLoader<User, Local>>;
}

/** An option that is required if `SessionAuthTypes` declares a type. */
type RequiredWith<Name extends string, Declared, Options> =
  SessionAuthTypes extends Readonly<Record<Name, Declared>> ? Required<Options> : Options;

/** Options of {@link SessionAuthModule}. An invalid one stops the application at bootstrap; the error names it. */
export interface SessionAuthOptions<User extends UserRecord = CurrentUserRecord>
  extends
    RequiredWith<'user', UserRecord, OptionalRecord<User>>,
    RequiredWith<'localUser', unknown, OptionalLoader<User, LocalUser>> {
  /**
   * Root URL of the session service, without `/authentication`: http or https, without user info, query and
   * fragment.
   */
  readonly baseUrl: string | URL;

  /** Sent as `X-API-KEY` (section 5.1). A function is called before each call: the key can rotate. */
  readonly apiKey: ApiKey;

  /**
   * Where the guard looks for the token. In a list, the first source that finds one decides.
   * @default fromHeader('x-auth-token')
   */
  readonly token?: TokenSource | readonly TokenSource[];

  /**
   * Sends the caller's `X-AUTH-IV` to the service unchanged, and makes it part of the session's identity
   * (section 5.6). @default true
   */
  readonly forwardAuthIv?: boolean;

  /** Milliseconds for one check: queue, attempts and body included. 1 to 300 000. @default 3000 */
  readonly timeoutMs?: number;

  /** Milliseconds for a sign-in. A sign-in is never retried. 1 to 300 000. @default 10000 */
  readonly signInTimeoutMs?: number;

  /** Milliseconds for a sign-out. A sign-out is never retried. 1 to 300 000. @default 5000 */
  readonly signOutTimeoutMs?: number;

  /**
   * Attempts of one check, the first included: 1 to 10. Only transient failures are retried. `false` turns
   * retries off. @default { maxAttempts: 2 }
   */
  readonly retry?: false | Partial<RetrySettings>;

  /**
   * Stops the calls to a failing service, and probes it after a pause. A failure is a missing connection, a
   * timeout, a 408 or a 5xx. Failures of at least five users, or tokens of strangers, open it (`minimumCalls`, if that is less).
   * `false`: off.
   * @default { windowMs: 10000, minimumCalls: 20, failureRatio: 0.5, pauseMs: 1000, maxPauseMs: 30000 }
   */
  readonly breaker?: false | Partial<BreakerSettings>;

  /**
   * Checks that may call the service at once. 1 to 10 000. A quarter is the share of strangers: sessions that
   * this instance has neither authenticated nor issued in the last half hour. @default 128
   */
  readonly maxInFlight?: number;

  /**
   * Checks that may wait for a call. 0 to 100 000. A quarter is the share of strangers. A check that finds no
   * room, or would wait longer than half of `timeoutMs`, is answered 503 at once. @default 1024
   */
  readonly maxQueued?: number;

  /**
   * Sign-ins in flight, each on its own connection. 1 to 10 000. A further sign-in rejects with 503 at once.
   * The same limit applies to sign-outs, separately, so that sign-ins never block a sign-out. @default 32
   */
  readonly maxSignIns?: number;

  /**
   * The session cache. Without it every request is checked; concurrent checks of one token share a call.
   * @default false
   */
  readonly cache?: false | (RequiredCacheOptions & SessionAuthCacheOptions);

  /**
   * Outcome of the service's 400, 401, 403 and 404: the interface does not say what causes each (section 7).
   * `signIn` has those of a sign-in, such as `{ 422: 'rejected' }`.
   * @default 403 forbidden, else unauthenticated
   */
  readonly statusMap?: StatusMap;

  /**
   * A 200 is a user record only if at least one of these fields is a non-empty string (our decision).
   * @default ['username', 'email']
   */
  readonly identityFields?: readonly (keyof User & string)[];

  /**
   * Reports what the guard would deny, in the decisions and the metric of denials, and denies nothing. Keep
   * the guard that you are about to replace: without it, every handler is open. Works for one session service
   * and for routes of controllers. `@ReportOnly()` does the same for single routes.
   * @default false
   */
  readonly reportOnly?: boolean;

  /**
   * What to do when user_details returns an `auth_token` other than the one presented: `'deny'` answers 503,
   * because the record may be another caller's; `'warn'` accepts it; both log it. `'ignore'` accepts it
   * without a log line. @default 'deny'
   */
  readonly tokenEcho?: TokenEcho;

  /**
   * What to do at bootstrap with decorators whose effect may not be what was intended, such as `@Public()`
   * beside `@Roles()`. `'warn'` logs each, and `@AcknowledgeAudit()` accepts them on a handler; `'error'` stops
   * the application. Both stop it at a rule that is certain to have no effect, such as one that another
   * decorator removed. `'off'` checks nothing. @default 'warn'
   */
  readonly audit?: Audit;

  /**
   * How long something stays open that the guard has admitted: sockets, streams, subscriptions and calls of
   * gRPC end with their session, unless their handler has `@KeepOpen()`.
   * @default { recheckMs: 60000, outageGraceMs: 300000 }
   */
  readonly whileOpen?: Partial<WhileOpen>;

  /** Transport and its limits. */
  readonly http?: SessionAuthHttpOptions;
}

/** Named first in the compiler's error for `cache: {}`. */
type RequiredCacheOptions = Pick<SessionAuthCacheOptions, 'ttlMs'>;

/** The price of a cache: a session that ended elsewhere still works here for up to `ttlMs`. */
export interface SessionAuthCacheOptions {
  /**
   * Milliseconds that a valid session is cached. 1 to 300 000. Required. `Cache-Control` and `Age` of the
   * service's reply shorten it, and never lengthen it (our decision).
   */
  readonly ttlMs: number;
  /** Milliseconds that a refusal is cached; the same headers shorten it. 0 to 300 000. @default 5000 */
  readonly negativeTtlMs?: number;
  /**
   * How many sessions are cached, and how many refusals. The least recently used is evicted first.
   * 1 to 10 000 000. @default 10000
   */
  readonly maxEntries?: number;
  /**
   * Milliseconds before it expires that an active session is refreshed in the background. 0 to below `ttlMs`.
   * @default 0 (off)
   */
  readonly refreshAheadMs?: number;
  /**
   * Milliseconds that an expired session still works while the service is unavailable. 0 to 86 400 000.
   * @default 0 (off)
   */
  readonly staleIfErrorMs?: number;
  /**
   * A cache that all instances of the application share, behind the cache of each: a sign-out on one revokes
   * the session on all. A failing store counts as an empty one. @default none
   */
  readonly store?: SessionStore;
}

/** Implemented by a class that provides the options to `forRootAsync` (`useClass`, `useExisting`). */
export interface SessionAuthOptionsFactory<User extends UserRecord = CurrentUserRecord> {
  /** Returns the options. Called once, when the application starts. */
  createSessionAuthOptions(): SessionAuthOptions<User> | Promise<SessionAuthOptions<User>>;
}

/** Options of `forRootAsync`: Nest's `imports` and `inject`, and `useFactory`, `useClass` or `useExisting`. */
export type SessionAuthAsyncOptions<User extends UserRecord = CurrentUserRecord> =
  ConfigurableModuleAsyncOptions<SessionAuthOptions<User>, 'createSessionAuthOptions'>;

/** The effect of the findings of the audit: see the option `audit`. */
export type Audit = 'off' | 'warn' | 'error';

/** Transport to the session service. Proxy variables of the environment are ignored: set `proxy`. */
export interface SessionAuthHttpOptions {
  /** Agent for an http base URL, instead of the built-in pool. @default none */
  readonly httpAgent?: HttpAgent;
  /**
   * Agent for an https base URL, instead of the built-in pool: for client certificates (mTLS) or a private
   * certificate authority. @default none
   */
  readonly httpsAgent?: HttpsAgent;
  /** A forward proxy: host, port, protocol and credentials, as in axios. Excludes an agent. @default none */
  readonly proxy?: AxiosProxyConfig;
  /** Size limit of a response body, in bytes. 1 to 16 777 216. @default 65536 */
  readonly maxResponseBytes?: number;
  /** Size limit of a token and of an IV, in bytes. 1 to 65 536. @default 4096 */
  readonly maxTokenLength?: number;
}

/** Extras of `forRoot` and `forRootAsync`, next to the options. With an invalid one, the call throws. */
export interface SessionAuthExtras {
  /**
   * Makes the guard and the service available in every module without an import. With `false`, it checks the
   * handlers of the modules that import it, or get it from a module that exports `SessionAuthModule`: two
   * such registrations of one handler stop the start. @default true
   */
  readonly isGlobal?: boolean;
  /**
   * Registers the guard for the whole application, also with `isGlobal: false`; `@Public()` opens single
   * handlers. Covers routes, resolvers, gateways and message handlers, those of a hybrid application
   * included. @default false
   */
  readonly protectAllRoutes?: boolean;
  /**
   * Parts of the library that few applications need: `sessionSockets` of `nestjs-session-auth/sockets`.
   * @default none
   */
  readonly plugins?: readonly SessionAuthPlugin[];
}
