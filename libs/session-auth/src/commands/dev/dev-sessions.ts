import { randomUUID } from 'node:crypto';
import type { DevUser } from './dev-users.js';

/** Sessions that are kept at most. A further sign-in ends the oldest. */
const MAX_SESSIONS = 10_000;

/** The users and sessions of the development service. */
export class DevSessions {
  readonly #users: ReadonlyMap<string, DevUser>;
  readonly #usernames = new Map<string, string>();

  constructor(users: readonly DevUser[]) {
    this.#users = new Map(users.map((user) => [user.record.username, user]));
  }

  /** The records of all users, without passwords. */
  get records(): object[] {
    return [...this.#users.values()].map(({ record }) => record);
  }

  /** Number of open sessions. */
  get size(): number {
    return this.#usernames.size;
  }

  /** Opens a session, and returns the user record with its token; `undefined` for wrong credentials. */
  signIn(username: string, password: string): object | undefined {
    if (this.#users.get(username)?.password !== password) return undefined;
    const token = `dev-${randomUUID()}`;
    this.#usernames.set(token, username);
    const [oldest] = this.#usernames.keys();
    if (oldest !== undefined && this.size > MAX_SESSIONS) this.#usernames.delete(oldest);
    return this.recordOf(token);
  }

  /** Returns the user record of a session; `undefined` if there is no such session. */
  recordOf(token: string): object | undefined {
    const username = this.#usernames.get(token);
    return username === undefined ? undefined : { ...this.#users.get(username)?.record, auth_token: token };
  }

  /** Ends a session. Returns whether there was one. */
  revoke(token: string): boolean {
    return this.#usernames.delete(token);
  }

  /** Ends the sessions of a user, or all sessions without `username`. Returns how many. */
  revokeAll(username?: string): number {
    const tokens = [...this.#usernames].filter(([, owner]) => username === undefined || owner === username);
    for (const [token] of tokens) this.#usernames.delete(token);
    return tokens.length;
  }
}
