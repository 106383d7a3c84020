import type { Credentials, SessionClient, SignInResult } from '../client/session-client.js';
import {
  CredentialsRejectedError,
  SessionServiceUnavailableError,
} from '../exceptions/session-exceptions.js';
import { UNAUTHENTICATED, type Unavailable, unavailable, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import { giveLocalUser } from '../policies/user-loader.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import type { SessionBook } from './session-book.js';

/**
 * Not counted by the circuit breaker, so that the outage of one test does not deny the requests of the next.
 */
const DOWN: Unavailable = { ...unavailable('unreachable'), staleConnection: true };

type Operations<User extends UserRecord> = Pick<SessionClient<User>, 'userDetails' | 'signIn' | 'signOut'>;

/** Replaces the client of the session service, and answers from the sessions and users of a test. */
export class TestSessionClient<User extends UserRecord> implements Operations<User> {
  readonly #book: SessionBook;
  readonly #readUser: (json: object) => User | undefined;

  constructor(book: SessionBook, readUser: (json: object) => User | undefined) {
    this.#book = book;
    this.#readUser = readUser;
  }

  userDetails({ token }: SessionIdentity): Promise<Verdict<User>> {
    if (this.#book.isDown) return Promise.resolve(DOWN);
    const json = this.#book.recordOf(token);
    if (!json) return Promise.resolve(UNAUTHENTICATED);
    const user = this.#readUser(json);
    const { localUsers } = this.#book;
    if (user && localUsers.has(token)) giveLocalUser(user, localUsers.get(token));
    return Promise.resolve(user ? { kind: 'authenticated', user, json } : unavailable('malformed'));
  }

  async signIn(credentials: Credentials): Promise<SignInResult<User>> {
    await this.#reach();
    const record = this.#book.signIn(credentials);
    if (!record) throw new CredentialsRejectedError();
    const user = this.#readUser(record);
    if (!user?.auth_token) throw new SessionServiceUnavailableError(unavailable('malformed'));
    return { kind: 'signed-in', user, token: user.auth_token };
  }

  async signOut({ token }: SessionIdentity): Promise<void> {
    await this.#reach();
    this.#book.revoke(token);
  }

  async #reach(): Promise<void> {
    await Promise.resolve();
    if (this.#book.isDown) throw new SessionServiceUnavailableError(DOWN);
  }
}
