import { FORBIDDEN, UNAUTHENTICATED, unavailable, type Unavailable, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { isRefusal, STATUS_OUTCOMES, unavailableReasonOf, type RefusalStatus, type StatusMap } from '../contract/status-outcomes.js';
import { type NoReply, readJsonObject, type Reply } from './http/reply.js';
import { readCacheForMs, readRetryAfterSeconds } from './reply-headers.js';

/** Things an operator should know. Implemented where the logger is; called as often as they happen. */
export interface Warnings {
  /** The service answered what it never answers: most likely the base URL is not the session service's. */
  unexpectedReply(status: number): void;
  /** user_details answered with another token than was presented. */
  tokenMismatch(): void;
  /** The service accepts a session and forbids caching it, although the cache is on. */
  cachingForbidden(): void;
}

/** Reads the record in a 200: `undefined` for anything that is not a user. */
export type ReadUser<User> = (json: object) => User | undefined;

/** What to do when user_details answers with another `auth_token` than was presented. @default 'deny' */
export type TokenEcho = 'ignore' | 'warn' | 'deny';

/** How long answers are cached, in milliseconds, unless the service wants less. */
export interface CacheLifetimes {
  readonly ttlMs: number;
  readonly negativeTtlMs: number;
}

/** How replies to user_details are read. */
export interface VerdictSettings {
  readonly statusMap: StatusMap;
  readonly tokenEcho: TokenEcho;
  /** `undefined`: the cache is off. */
  readonly cache?: CacheLifetimes | undefined;
}

/** Turns the reply to user_details into a verdict: the one table from status to outcome. */
export class UserDetailsVerdicts<User extends UserRecord> {
  readonly #readUser: ReadUser<User>;
  readonly #settings: VerdictSettings;
  readonly #warnings: Warnings;

  constructor(readUser: ReadUser<User>, settings: VerdictSettings, notices: Warnings) {
    this.#readUser = readUser;
    this.#settings = settings;
    this.#warnings = notices;
  }

  /** The verdict on the session whose token was presented. Code of the application that throws on the way has not accepted anybody. */
  of(reply: Reply | NoReply, presentedToken: string): Verdict<User> {
    try {
      return this.#read(reply, presentedToken);
    } catch {
      return unavailable('malformed');
    }
  }

  #read(reply: Reply | NoReply, presentedToken: string): Verdict<User> {
    if ('noReply' in reply) return { ...unavailable(reply.noReply), ...(reply.staleConnection && { staleConnection: true }) };
    if (reply.status === 200) return this.#readUserDetails(reply, presentedToken);
    if (isRefusal(reply.status)) return this.#readRefusal(reply, reply.status);
    return outage(reply);
  }

  #readUserDetails(reply: Reply, presentedToken: string): Verdict<User> {
    const record = readRecord(reply, this.#readUser);
    if (!record) return unavailable('malformed');
    const { user } = record;
    const echoed = user.auth_token === undefined || user.auth_token === presentedToken || this.#settings.tokenEcho === 'ignore';
    if (!echoed) this.#warnings.tokenMismatch();
    if (!echoed && this.#settings.tokenEcho !== 'warn') return unavailable('malformed');
    const cacheForMs = this.#cacheForMs(reply, 'ttlMs');
    if (cacheForMs === undefined) return { kind: 'authenticated', ...record };
    if (cacheForMs === 0) this.#warnings.cachingForbidden();
    return { kind: 'authenticated', ...record, cacheForMs };
  }

  #readRefusal(reply: Reply, status: RefusalStatus): Verdict<User> {
    const mapped = this.#settings.statusMap[status];
    if (status === 404 && mapped === undefined && reply.body?.length !== 0) {
      this.#warnings.unexpectedReply(status);
      return unavailable('unexpected_status');
    }
    const meaning = mapped ?? STATUS_OUTCOMES[status];
    if (meaning !== 'unauthenticated') return meaning === 'forbidden' ? FORBIDDEN : unavailable('unexpected_status');
    const cacheForMs = this.#cacheForMs(reply, 'negativeTtlMs');
    return cacheForMs === undefined ? UNAUTHENTICATED : { ...UNAUTHENTICATED, cacheForMs };
  }

  #cacheForMs({ headers }: Reply, lifetime: keyof CacheLifetimes): number | undefined {
    const { cache: memory } = this.#settings;
    return memory && readCacheForMs(headers, memory[lifetime]);
  }
}

/** The record in a 200 and its user, or `undefined` when it is no user's. */
export function readRecord<User>(reply: Reply, read: ReadUser<User>): { readonly user: User; readonly json: object } | undefined {
  const json = readJsonObject(reply);
  if (json === undefined) return undefined;
  const user = readUser(json, read);
  return user === undefined ? undefined : { user, json };
}

/** The user in a record, or `undefined`; a validator of the application that throws has not accepted the record. */
export function readUser<User>(json: object, read: ReadUser<User>): User | undefined {
  try {
    return read(json);
  } catch {
    return undefined;
  }
}

/** Returns the verdict on a response that is no usable answer. */
export function outage({ status, headers }: Reply): Unavailable {
  return unavailable(unavailableReasonOf(status), readRetryAfterSeconds(headers['retry-after']));
}
