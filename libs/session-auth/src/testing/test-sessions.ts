import { SessionClient } from '../client/session-client.js';
import { AUTH_TOKEN_HEADER } from '../contract/wire.js';
import { USER_READER } from '../module/settings-providers.js';
import { aUserRecord, type UserRecordFields } from './a-user-record.js';
import { TestBook } from './test-book.js';
import { TestSessionClient } from './test-session-client.js';

/** What {@link TestSessions} needs of Nest's `TestingModuleBuilder`. */
export interface OverridableModule {
  /** Names a provider that is to be replaced. */
  overrideProvider(token: unknown): {
    /** Replaces it by what a factory makes. */
    useFactory(options: { factory: (...parts: never[]) => unknown; inject: unknown[] }): unknown;
  };
}

const TOKEN_HEADER = AUTH_TOKEN_HEADER.toLowerCase();

/** Headers of a request. */
export type SessionHeaders = Readonly<Record<string, string>>;

/**
 * Sessions for the tests of an application: the real guard, the real rules and the real memory, and no network. One for each application.
 *
 * ```ts
 * const sessions = new TestSessions();
 * const moduleRef = await sessions.install(Test.createTestingModule({ imports: [AppModule] })).compile();
 * const headers = sessions.signInAs({ role: 'hiring_manager' });
 * ```
 */
export class TestSessions {
  readonly #book = new TestBook();

  /** Puts these sessions in the place of the session service. Call it before `compile()`. */
  install<Builder extends OverridableModule>(builder: Builder): Builder {
    builder.overrideProvider(SessionClient).useFactory({
      factory: (readUser: (json: object) => never) => new TestSessionClient(this.#book, readUser),
      inject: [USER_READER],
    });
    return builder;
  }

  /** Opens a session of a user like this, and gives the headers to send; the rest of the record is {@link aUserRecord}'s. */
  signInAs(fields: UserRecordFields & Readonly<Record<string, unknown>> = {}): SessionHeaders {
    return { [TOKEN_HEADER]: this.#book.open(aUserRecord(fields)) };
  }

  /** Lets `SessionAuthService.signIn` know a user. */
  addUser(credentials: { readonly username: string; readonly password: string }, fields: UserRecordFields = {}): void {
    const record = aUserRecord({ username: credentials.username, ...fields });
    this.#book.accounts.set(credentials.username, { password: credentials.password, record });
  }

  /** Ends a session, as if its user had signed out elsewhere. With `cache` on it works on for its lifetime, as it would. */
  end(headers: SessionHeaders): void {
    this.#book.sessions.delete(headers[TOKEN_HEADER] ?? '');
  }

  /** Makes the session service unavailable, or available again. */
  setDown(isDown: boolean): void {
    this.#book.isDown = isDown;
  }
}
