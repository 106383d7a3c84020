import {
  FORBIDDEN,
  UNAUTHENTICATED,
  unavailable,
  type Unavailable,
  type Verdict,
} from '../contract/outcome.js';
import type { CallMessage } from '../contract/diagnostics.js';
import { keepSentUsername, type UserRecord } from '../contract/record/user-record.js';
import {
  isRefusal,
  STATUS_OUTCOMES,
  unavailableReasonOf,
  type RefusalStatus,
  type StatusMap,
} from '../contract/status-outcomes.js';
import { type NoReply, readCacheForMs, readJsonObject, readRetryAfterSeconds, type Reply } from './reply.js';

/** Reports for the operator, about replies. Called each time; the implementation limits what is logged. */
export interface Warnings {
  /** A reply is none of the interface, which makes its call unavailable. */
  unexpectedReply(operation: CallMessage['operation'], reply: string): void;
  /** The interface does not list this status, whose meaning is plain. */
  unlistedStatus(operation: CallMessage['operation'], status: number): void;
  /** A 200 is no user record, or has no token after a sign-in. */
  unusableReply(operation: CallMessage['operation']): void;
  /** The service answered 403: it refuses the application, or the user. */
  accessRefused(operation: CallMessage['operation']): void;
  /** user_details returned a different token than was presented. */
  tokenMismatch(): void;
  /** The service forbids caching a valid session, although the cache is on. */
  cachingForbidden(): void;
}

/** Reads the user in the body of a 200. Returns `undefined` for anything that is not a user. */
export type ReadUser<User> = (json: object) => User | undefined;

/**
 * Treatment of a reply to user_details that has a different `auth_token` than was presented. @default 'deny'
 */
export type TokenEcho = 'ignore' | 'warn' | 'deny';

/** Lifetimes of cache entries, in milliseconds. The service can shorten them. */
interface CacheLifetimes {
  readonly ttlMs: number;
  readonly negativeTtlMs: number;
}

export interface VerdictSettings {
  readonly statusMap: StatusMap;
  readonly tokenEcho: TokenEcho;
  /** `undefined`: the cache is off. */
  readonly cache?: CacheLifetimes | undefined;
}

/** Maps replies to user_details to verdicts. The only table from status to outcome. */
export class UserDetailsVerdicts<User extends UserRecord> {
  readonly #readUser: ReadUser<User>;
  readonly #settings: VerdictSettings;
  readonly #warnings: Warnings;

  constructor(readUser: ReadUser<User>, settings: VerdictSettings, warnings: Warnings) {
    this.#readUser = readUser;
    this.#settings = settings;
    this.#warnings = warnings;
  }

  of(reply: Reply | NoReply, presentedToken: string): Verdict<User> {
    if ('noReply' in reply)
      return { ...unavailable(reply.noReply), ...(reply.staleConnection && { staleConnection: true }) };
    if (reply.status === 200) return this.#readUserDetails(reply, presentedToken);
    if (isRefusal(reply.status)) return this.#readRefusal(reply, reply.status);
    const verdict = outage(reply);
    if (verdict.reason === 'unexpected_status') this.#unexpected(String(reply.status));
    return verdict;
  }

  #readUserDetails(reply: Reply, presentedToken: string): Verdict<User> {
    const record = readRecord(reply, this.#readUser);
    if (!record) {
      this.#warnings.unusableReply('user_details');
      return unavailable('malformed');
    }
    const { user, json } = record;
    const isExpected =
      user.auth_token === undefined ||
      user.auth_token === presentedToken ||
      this.#settings.tokenEcho === 'ignore';
    if (!isExpected) this.#warnings.tokenMismatch();
    if (!isExpected && this.#settings.tokenEcho !== 'warn') return unavailable('malformed');
    const cacheForMs = this.#cacheForMs(reply, 'ttlMs');
    if (cacheForMs === undefined) return { kind: 'authenticated', user, json };
    if (cacheForMs === 0) this.#warnings.cachingForbidden();
    return { kind: 'authenticated', user, json, cacheForMs };
  }

  #readRefusal(reply: Reply, status: RefusalStatus): Verdict<User> {
    const mapped = this.#settings.statusMap[status];
    if (status === 404 && mapped === undefined && reply.body?.length !== 0)
      return this.#unexpected(`${status} with a body`);
    const meaning = mapped ?? STATUS_OUTCOMES[status];
    if (meaning === 'unavailable') return this.#unexpected(`${status} ('unavailable' by statusMap)`);
    if (meaning === 'forbidden') {
      if (mapped === undefined) this.#warnings.accessRefused('user_details');
      return FORBIDDEN;
    }
    const cacheForMs = this.#cacheForMs(reply, 'negativeTtlMs');
    return cacheForMs === undefined ? UNAUTHENTICATED : { ...UNAUTHENTICATED, cacheForMs };
  }

  #unexpected(reply: string): Unavailable {
    this.#warnings.unexpectedReply('user_details', reply);
    return unavailable('unexpected_status');
  }

  #cacheForMs({ headers }: Reply, lifetime: keyof CacheLifetimes): number | undefined {
    const { cache } = this.#settings;
    return cache && readCacheForMs(headers, cache[lifetime]);
  }
}

/** Returns the body of a 200 and its user; `undefined` if it is not a user. */
export function readRecord<User>(
  reply: Reply,
  read: ReadUser<User>,
): { readonly user: User; readonly json: object } | undefined {
  const json = readJsonObject(reply);
  if (json === undefined) return undefined;
  const user = readUser(json, read);
  return user === undefined ? undefined : { user, json };
}

/**
 * Returns the user in a body; `undefined` if it is not a user, or if a validator of the application throws.
 */
export function readUser<User>(json: object, read: ReadUser<User>): User | undefined {
  try {
    const user = read(json);
    if (typeof user === 'object' && user !== null) keepSentUsername(user, json);
    return user;
  } catch {
    return undefined;
  }
}

/** Returns the verdict on a reply that is not a usable answer. */
export function outage({ status, headers }: Reply): Unavailable {
  return unavailable(unavailableReasonOf(status), readRetryAfterSeconds(headers['retry-after']));
}
