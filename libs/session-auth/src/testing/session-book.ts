import { randomUUID } from 'node:crypto';
import type { Credentials } from '../client/session-client.js';

/** Sessions that are kept at most: a service for development runs for days. A further one ends the oldest. */
const MAX_SESSIONS = 100_000;

export class SessionBook {
  isDown = false;
  /** The application's own users, by the tokens of their sessions. */
  readonly localUsers = new Map<string, unknown>();
  readonly #sessions = new Map<string, object>();
  readonly #users = new Map<string, { readonly password: string; readonly record: object }>();

  /**
   * Opens a session, and returns its token. Without `token`, it has a token that no other session has or had.
   */
  open(record: object, token = `test-${randomUUID()}`): string {
    this.#sessions.set(token, { auth_token: token, ...record });
    const [oldest] = this.#sessions.keys();
    if (oldest !== undefined && this.size > MAX_SESSIONS) this.#sessions.delete(oldest);
    return token;
  }

  get size(): number {
    return this.#sessions.size;
  }

  recordOf(token: string): object | undefined {
    return this.#sessions.get(token);
  }

  addUser({ username, password }: Credentials, record: object): void {
    this.#users.set(username, { password, record });
  }

  /**
   * Opens a session of a user, and returns its record with its token; `undefined` for unknown credentials.
   */
  signIn({ username, password }: Credentials): object | undefined {
    const user = this.#users.get(username);
    if (!user) return undefined;
    return user.password === password ? this.recordOf(this.open(user.record)) : undefined;
  }

  revoke(token: string): boolean {
    return this.#sessions.delete(token);
  }

  /** Ends all sessions whose record has this `username`, or all sessions without one. */
  endUser(username?: string): void {
    for (const [token, record] of this.#sessions) {
      if (username === undefined || (record as { readonly username?: unknown }).username === username)
        this.#sessions.delete(token);
    }
  }
}
