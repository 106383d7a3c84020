import type { SignInResult } from '../client/session-client.js';
import type { Credentials } from '../client/session-wire.js';
import { CredentialsRejectedError, SessionServiceUnavailableError } from '../contract/errors.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import type { UserRecord } from '../contract/user-record.js';
import { UNAUTHENTICATED, unavailable, type Verdict } from '../contract/verdict.js';
import type { TestBook } from './test-book.js';

const DOWN = unavailable('unreachable');

/** Stands where the client of the session service stands, and answers as that would, from what a test says. */
export class TestSessionClient {
  readonly #book: TestBook;
  readonly #readUser: (json: object) => UserRecord | undefined;

  constructor(book: TestBook, readUser: (json: object) => UserRecord | undefined) {
    this.#book = book;
    this.#readUser = readUser;
  }

  userDetails({ token }: SessionIdentity): Promise<Verdict<UserRecord>> {
    if (this.#book.isDown) return Promise.resolve(DOWN);
    const json = this.#book.sessions.get(token);
    if (!json) return Promise.resolve(UNAUTHENTICATED);
    const user = this.#readUser(json);
    return Promise.resolve(user ? { kind: 'authenticated', user, json } : unavailable('malformed'));
  }

  async signIn({ username, password }: Credentials): Promise<SignInResult<UserRecord>> {
    await Promise.resolve();
    if (this.#book.isDown) throw new SessionServiceUnavailableError(DOWN);
    const account = this.#book.accounts.get(username);
    if (account?.password !== password) throw new CredentialsRejectedError();
    const token = this.#book.open(account.record);
    const user = this.#readUser({ ...account.record, auth_token: token });
    if (!user) throw new SessionServiceUnavailableError(unavailable('malformed'));
    return { kind: 'signed-in', user, token };
  }

  async signOut({ token }: SessionIdentity): Promise<void> {
    await Promise.resolve();
    if (this.#book.isDown) throw new SessionServiceUnavailableError(DOWN);
    this.#book.sessions.delete(token);
  }
}
