import { randomUUID } from 'node:crypto';
import { SessionClient, type SignInResult } from '../client/session-client.js';
import type { Credentials } from '../client/session-requests.js';
import { CredentialsRejectedError, SessionServiceUnavailableError } from '../exceptions/session-exceptions.js';
import { UNAUTHENTICATED, unavailable, type Verdict } from '../contract/outcome.js';
import type { UserRecord } from '../contract/record/user-record.js';
import type { SessionIdentity } from '../contract/session-identity.js';
import { AUTH_TOKEN_HEADER } from '../contract/wire.js';
import { USER_READER } from '../module/settings/settings-providers.js';
import { aUserRecord, type UserRecordFields } from './a-user-record.js';

/** The part of Nest's `TestingModuleBuilder` that {@link TestSessions} uses. */
export interface OverridableModule {
  /** Selects a provider to replace. */
  overrideProvider(token: unknown): {
    /** Replaces the provider with the result of a factory. */
    useFactory(options: { factory: (...parts: never[]) => unknown; inject: unknown[] }): unknown;
  };
}

const TOKEN_HEADER = AUTH_TOKEN_HEADER.toLowerCase();

/** Headers of a request. */
export type SessionHeaders = Readonly<Record<string, string>>;

/**
 * Sessions for the tests of an application, with the real guard, rules and session cache, and without a network. Create one per application.
 *
 * ```ts
 * const sessions = new TestSessions();
 * const moduleRef = await sessions.install(Test.createTestingModule({ imports: [AppModule] })).compile();
 * const headers = sessions.signInAs({ role: 'hiring_manager' });
 * ```
 */
export class TestSessions {
  readonly #book = new TestBook();

  /** Replaces the session service with these sessions. Call it before `compile()`. Returns the builder. */
  install<Builder extends OverridableModule>(builder: Builder): Builder {
    builder.overrideProvider(SessionClient).useFactory({
      factory: (readUser: (json: object) => never) => new TestSessionClient(this.#book, readUser),
      inject: [USER_READER],
    });
    return builder;
  }

  /** Opens a session, and returns the headers to send. `fields` replace fields of {@link aUserRecord}. */
  signInAs(fields: UserRecordFields & Readonly<Record<string, unknown>> = {}): SessionHeaders {
    return { [TOKEN_HEADER]: this.#book.open(aUserRecord(fields)) };
  }

  /** Adds a user that can sign in by `SessionAuthService.signIn`. */
  addUser(credentials: { readonly username: string; readonly password: string }, fields: UserRecordFields = {}): void {
    const record = aUserRecord({ username: credentials.username, ...fields });
    this.#book.accounts.set(credentials.username, { password: credentials.password, record });
  }

  /** Ends a session, as if its user had signed out elsewhere. With `cache` on, a cached session stays valid until its entry expires. */
  end(headers: SessionHeaders): void {
    this.#book.sessions.delete(headers[TOKEN_HEADER] ?? '');
  }

  /** Makes the session service unavailable, or available again. */
  setDown(isDown: boolean): void {
    this.#book.isDown = isDown;
  }
}

const DOWN = unavailable('unreachable');

/** Replaces the client of the session service, and answers from the sessions and users of a test. */
class TestSessionClient {
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

/** Users and sessions of a test. */
class TestBook {
  readonly sessions = new Map<string, object>();
  readonly accounts = new Map<string, { readonly password: string; readonly record: object }>();
  isDown = false;

  /** Opens a session, and returns its token. */
  open(record: object): string {
    const token = `test-${randomUUID()}`;
    this.sessions.set(token, { ...record, auth_token: token });
    return token;
  }
}
