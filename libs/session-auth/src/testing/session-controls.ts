import type { Credentials } from '../client/session-client.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { AUTH_TOKEN_HEADER } from '../contract/wire.js';
import type { CurrentUserRecord } from '../guard/current-user.decorator.js';
import type { UserRecordFields } from './a-user-record.js';
import { SessionBook } from './session-book.js';

export const TOKEN_HEADER = AUTH_TOKEN_HEADER.toLowerCase() as 'x-auth-token';

/** Headers of a request with a session. */
export interface SessionHeaders extends Readonly<Record<string, string>> {
  /** The token. */
  readonly 'x-auth-token': string;
}

/** The actions that `TestSessions` and the scripted session service share. */
export abstract class SessionControls<User extends UserRecord = CurrentUserRecord> {
  /** @internal */
  protected readonly book = new SessionBook();

  /** @internal Returns the record of a user with these fields. */
  protected abstract recordOf(fields: UserRecordFields<User>): object;

  /** Adds a user who can sign in, and whose record has these fields. */
  addUser(credentials: Credentials, fields: UserRecordFields<User> = {}): void {
    this.book.addUser(credentials, this.recordOf({ username: credentials.username, ...fields }));
  }

  /**
   * Ends a session, as if its user had signed out elsewhere. With `cache` on, a cached session stays valid
   * until its entry expires.
   */
  revoke(session: SessionHeaders | string): void {
    this.book.revoke(typeof session === 'string' ? session : session[TOKEN_HEADER]);
  }

  /** Ends all sessions of the user with this `username`, as if elsewhere. See {@link revoke}. */
  endUser(username: string): void {
    this.book.endUser(username);
  }

  /** Makes the session service unavailable, or available again. */
  setDown(isDown: boolean): void {
    this.book.isDown = isDown;
  }
}
