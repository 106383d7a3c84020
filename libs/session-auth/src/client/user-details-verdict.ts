import {
  FORBIDDEN,
  UNAUTHENTICATED,
  unavailable,
  type Unavailable,
  type Verdict,
} from '../contract/outcome.js';
import { AFFECTED, type CauseReports } from '../contract/causes.js';
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

/** Receives what replies show. Called each time; the implementation limits what is logged. */
export interface ReplyReports extends Pick<CauseReports, 'occurred'> {
  /** The interface does not list this status, whose meaning is plain. */
  unlistedStatus(operation: CallMessage['operation'], status: number): void;
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
  readonly #reports: ReplyReports;
  readonly #renew: () => void;

  /** `renew`: called if a connection may deliver each reply to the next caller. */
  constructor(
    readUser: ReadUser<User>,
    settings: VerdictSettings,
    reports: ReplyReports,
    renew: () => void = () => undefined,
  ) {
    this.#readUser = readUser;
    this.#settings = settings;
    this.#reports = reports;
    this.#renew = renew;
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
    const { tokenEcho } = this.#settings;
    const record = readRecord(reply, this.#readUser, () =>
      this.#reports.occurred('unusable reply', AFFECTED.user_details, 'a user record'),
    );
    if (!record) return unavailable('malformed');
    const { user, json } = record;
    if (user.auth_token !== undefined && user.auth_token !== presentedToken && tokenEcho !== 'ignore') {
      this.#reports.occurred('token mismatch');
      if (tokenEcho !== 'warn') {
        this.#renew();
        return unavailable('malformed');
      }
    }
    const cacheForMs = readCacheForMs(reply.headers, this.#settings.cache?.ttlMs);
    if (cacheForMs === undefined) return { kind: 'authenticated', user, json };
    if (cacheForMs === 0) this.#reports.occurred('caching forbidden');
    return { kind: 'authenticated', user, json, cacheForMs };
  }

  #readRefusal(reply: Reply, status: RefusalStatus): Verdict<User> {
    const mapped = this.#settings.statusMap[status];
    if (status === 404 && mapped === undefined && reply.body?.length !== 0)
      return this.#unexpected(`${status} with a body`);
    const meaning = mapped ?? STATUS_OUTCOMES[status];
    if (meaning === 'unavailable') return this.#unexpected(`${status} ('unavailable' by statusMap)`);
    if (meaning === 'forbidden') {
      if (mapped === undefined) this.#reports.occurred('access refused', AFFECTED.user_details);
      return FORBIDDEN;
    }
    const cacheForMs = readCacheForMs(reply.headers, this.#settings.cache?.negativeTtlMs);
    return cacheForMs === undefined ? UNAUTHENTICATED : { ...UNAUTHENTICATED, cacheForMs };
  }

  #unexpected(reply: string): Unavailable {
    this.#reports.occurred('unexpected reply', AFFECTED.user_details, reply, AFFECTED.user_details);
    return unavailable('unexpected_status');
  }
}

/**
 * Returns the body of a 200 and its user; `undefined` if it is not a user. Calls `unusable`, unless the reader
 * has reported why.
 */
export function readRecord<User>(
  reply: Reply,
  read: ReadUser<User>,
  unusable: () => void,
): { readonly user: User; readonly json: object } | undefined {
  const json = readJsonObject(reply);
  if (json === undefined) unusable();
  const user = json && readUser(json, read, unusable);
  return json && user !== undefined ? { user, json } : undefined;
}

/**
 * Returns the user in a body; `undefined` if it is not a user, or if code of the application throws, such as a
 * getter of a record.
 */
export function readUser<User>(json: object, read: ReadUser<User>, threw?: () => void): User | undefined {
  try {
    const user = read(json);
    if (typeof user === 'object' && user !== null) keepSentUsername(user, json);
    return user;
  } catch {
    threw?.();
    return undefined;
  }
}

/** Returns the verdict on a reply that is not a usable answer. */
export function outage({ status, headers }: Reply): Unavailable {
  return unavailable(unavailableReasonOf(status), readRetryAfterSeconds(headers['retry-after']));
}
